import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { ended, startTestBulk, upload } from "./support.ts";

let shop: ShippingShop;
let bulk: BulkWork;
let token: string;
before(async () => {
  shop = await openShippingShop();
  bulk = startTestBulk(shop);
  token = await shop.token({ read: "all", write: "all" });
});
after(async () => {
  await bulk.stop();
  await shop.close();
});

/** A text in windows-1252. */
const inWindows = (text: string): Buffer =>
  Buffer.from(text.replaceAll("€", "\x80").replaceAll("„", "\x84").replaceAll("“", "\x93"), "latin1");
const bigEndian = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();
async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
/** Sends a file, and answers the names of the products that it makes. */
async function namesOf(
  body: Buffer | AsyncIterable<Uint8Array>,
  type: string,
  headers = {},
): Promise<string[]> {
  await shop.sql("delete from erp.product where product_number like 'cs-%'");
  const answer = await upload(shop, token, "products", body, { type, headers });
  assert.equal(answer.status, 202, answer.text);
  const { refusedCount } = await ended(shop, token, answer.body.bulkOperation.id);
  assert.equal(refusedCount, 0);
  const rows = await shop.sql(
    "select name from erp.product where product_number like 'cs-%' order by product_number",
  );
  return rows.map(({ name }) => name);
}

const names = ["Bär „€“", "Ağ 20 µm", "Größe\n„L“"];
const western = ["Bär „€“", "Größe\n„L“"];
const numberOf = (n: number) => `cs-${String(n).padStart(3, "0")}`;
const csvOf = (some: string[], end = "\r\n") =>
  ["productNumber,name", ...some.map((name, n) => `${numberOf(n)},"${name}"`), ""].join(end);
const jsonlOf = (some: string[]) =>
  some.map((name, n) => JSON.stringify({ productNumber: numberOf(n), name })).join("\n");

describe("files", () => {
  it("are read in the charset that their type declares", async () => {
    assert.deepEqual(await namesOf(inWindows(csvOf(western)), "text/csv; charset=windows-1252"), western);
    assert.deepEqual(await namesOf(inWindows(jsonlOf(western)), "application/jsonl;charset=latin1"), western);
    assert.deepEqual(await namesOf(inWindows(csvOf(western, "\r")), 'text/csv; charset="cp1252"'), western);
    const packed = gzipSync(bigEndian(csvOf(names)));
    assert.deepEqual(
      await namesOf(packed, "text/csv; charset=utf-16be", { "content-encoding": "gzip" }),
      names,
    );
    const japanese = Buffer.concat([
      Buffer.from("productNumber,name\ncs-0,"),
      Buffer.from([0x83, 0x65, 0x83, 0x93, 0x83, 0x67, 0x83, 0x5c, 0x0a]),
    ]);
    assert.deepEqual(await namesOf(japanese, "text/csv; charset=shift_jis"), ["テントソ"]);
  });

  it("tell their charset by a byte order mark, whatever is declared", async () => {
    const csv = `\uFEFF${csvOf(names)}`;
    for (const bytes of [Buffer.from(csv), Buffer.from(csv, "utf16le"), bigEndian(csv)])
      for (const type of ["text/csv", "text/csv; charset=windows-1252"])
        assert.deepEqual(await namesOf(bytes, type), names);
    const rows = Buffer.from(`\uFEFF${jsonlOf(names)}`, "utf16le");
    assert.deepEqual(await namesOf(rows, "application/jsonl"), names);
  });

  it("are the same however characters are cut between the pieces that arrive", async () => {
    const many = Array.from({ length: 900 }, () => "ਊ ਅ 💶 čeština");
    for (const size of [1, 3, 8_191]) {
      const some = size < 100 ? names : many;
      for (const [bytes, type] of [
        [Buffer.from(`\uFEFF${csvOf(some)}`), "text/csv"],
        [Buffer.from(csvOf(some), "utf16le"), "text/csv; charset=utf-16"],
        [bigEndian(`\uFEFF${jsonlOf(some)}`), "application/jsonl"],
        [Buffer.from(jsonlOf(some)), "application/jsonl"],
      ] as const)
        assert.deepEqual(await namesOf(inPieces(bytes, size), type), some, `${type} by ${size}`);
    }
  });

  it("are refused with the line whose bytes aren't of their charset", async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, n) => `cs-${n},ä`).join("\n");
    const long = `productNumber,name\n${lines(3_000)}\n`;
    const half = Buffer.from([0x00, 0xd8]);
    const cases: [body: Buffer, type: string, told: RegExp][] = [
      [Buffer.from("productNumber,name\r\ncs-1,x\r\ncs-2,B\xe4r\r\n", "latin1"), "text/csv", /^Line 3 is/],
      [Buffer.from("productNumber,name\rcs-1,x\rcs-2,B\xe4r\r", "latin1"), "text/csv", /^Line 3 is/],
      [Buffer.from("productNumber,name\ncs-2,B\xe4", "latin1"), "text/csv; charset=utf-8", /^Line 2 is/],
      [Buffer.concat([Buffer.from(long), Buffer.from([0xe4])]), "text/csv", /^Line 3002 is not valid UTF-8/],
      [Buffer.from('{}\n\n{"name":"B\xe4r"}', "latin1"), "application/jsonl", /^Line 3 is not valid UTF-8/],
      [
        Buffer.concat([Buffer.from("a\nb", "utf16le"), half]),
        "text/csv; charset=utf-16",
        /^Line 2 .*UTF-16LE/,
      ],
      [Buffer.from("a\nb\n\x82", "latin1"), "text/csv; charset=shift_jis", /^Line 3 is not valid SHIFT_JIS/],
    ];
    for (const [body, type, told] of cases) {
      const answer = await upload(shop, token, "products", body, { type });
      assert.deepEqual([answer.status, answer.codes], [400, ["BAD_USER_INPUT"]], answer.text);
      assert.match(answer.body.errors[0].message, told);
      assert.match(answer.body.errors[0].message, /Content-Type/);
    }
    assert.deepEqual(await shop.sql("select from bulk.operation where state = 'uploading'"), []);
  });

  it("are refused when their charset isn't known", async () => {
    for (const charset of ["utf-32", "cp850"]) {
      const type = `text/csv; charset=${charset}`;
      const answer = await upload(shop, token, "products", "name\nx", { type });
      assert.deepEqual([answer.status, answer.codes], [415, ["BAD_USER_INPUT"]], answer.text);
      assert.match(answer.body.errors[0].message, new RegExp(`charset “${charset}” is not known here`));
    }
  });

  it("hold no half of a character, which no charset has", async () => {
    const { body } = await upload(shop, token, "products", '{"productNumber":"cs-1","name":"B\\ud800r"}');
    const { state, refusedCount } = await ended(shop, token, body.bulkOperation.id);
    assert.deepEqual([state, refusedCount], ["completed", 1]);
  });
});
