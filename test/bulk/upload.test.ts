import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { until } from "../lib/until.ts";
import { ended, jsonl, linesAt, operation, startTestBulk, upload } from "./support.ts";

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

const send = async (body: string, options = {}) => {
  const { status, body: answer, text } = await upload(shop, token, "products", body, options);
  assert.equal(status, 202, text);
  return answer.bulkOperation;
};
const count = async (where: string): Promise<number> =>
  (await shop.sql(`select count(*)::int as count from erp.product where ${where}`))[0].count;

describe("an upload of products", () => {
  it("takes in what is right, and says of each other line what is wrong", async () => {
    const rows = Array.from({ length: 600 }, (_, i) => ({
      productNumber: `row-${i}`,
      name: `Row ${i}`,
      price: [{ currencyId: shop.id.EUR, net: 1, gross: 1.19 }],
    }));
    const lines = rows.map((row) => JSON.stringify(row));
    lines[2] = "{";
    lines[3] = "";
    lines[4] = JSON.stringify({ ...rows[4], price: [{ net: 1, gross: 2 }] });
    lines[300] = JSON.stringify({ ...rows[300], taxRate: 190 });
    lines[301] = JSON.stringify({ ...rows[301], price: [{ currencyId: shop.id.hall, net: 1, gross: 2 }] });
    lines[302] = JSON.stringify({ productNumber: "hammer", name: "Big hammer" });
    lines[303] = JSON.stringify({ productNumber: "hammer", name: "Big hammer" });
    lines[304] = JSON.stringify({ productNumber: "row-304", name: "\u0000" });
    const { id, rowCount } = await send(lines.join("\n"));
    assert.equal(rowCount, 599);
    const done = await ended(shop, token, id);
    const { errorsUrl, createdAt, startedAt, finishedAt, expiresAt, ...others } = done;
    assert.deepEqual(others, {
      ...{ id, kind: "import", state: "completed", resource: "products", format: "jsonl", rowCount: 599 },
      ...{ doneCount: 594, createdCount: 592, updatedCount: 1, refusedCount: 5, progress: 1 },
      ...{ errorCode: null, errorMessage: null, resultUrl: null },
    });
    assert.ok(createdAt <= startedAt && startedAt <= finishedAt);
    assert.equal(Date.parse(expiresAt) - Date.parse(finishedAt), 7 * 86_400_000);
    assert.equal(await count("product_number like 'row-%'"), 592);
    assert.equal((await shop.sql("select count(*)::int as count from erp.product_price"))[0].count, 592);
    const errors = await linesAt(shop, errorsUrl);
    assert.deepEqual(
      errors.map(({ line, code, field }) => [line, code, field.join(".")]),
      [
        [3, "INVALID", ""],
        [5, "NOT_FOUND", "price.0.currencyId"],
        [301, "OUT_OF_RANGE", "taxRate"],
        [302, "INVALID", ""],
        [305, "INVALID", ""],
      ],
    );
    assert.match(errors[2].message, /0 to 100/);
  });

  it("says that everything is there already when it comes again", async () => {
    const file = jsonl([{ productNumber: "again", name: "Again" }]);
    await ended(shop, token, (await send(file)).id);
    const { createdCount, updatedCount, doneCount } = await ended(shop, token, (await send(file)).id);
    assert.deepEqual([createdCount, updatedCount, doneCount], [0, 0, 1]);
  });

  it("takes rows about the same product one after the other", async () => {
    const file = jsonl([1, 2, 3].map((n) => ({ productNumber: "thrice", name: `Name ${n}` })));
    const { createdCount, updatedCount, refusedCount } = await ended(shop, token, (await send(file)).id);
    assert.deepEqual([createdCount, updatedCount, refusedCount], [1, 2, 0]);
    assert.equal(await count("product_number = 'thrice' and name = 'Name 3'"), 1);
  });

  it("may be compressed, of unknown length, and end with or without a line break", async () => {
    const file = `\uFEFF${jsonl([{ productNumber: "zip-1" }, { productNumber: "zip-2" }])}\r\n`;
    assert.equal((await send(file, { gzip: true })).rowCount, 2);
    const bytes = async function* () {
      for (const byte of Buffer.from(file.replaceAll("zip", "flow"))) yield Uint8Array.of(byte);
    };
    const { body } = await upload(shop, token, "products", bytes());
    assert.equal((await ended(shop, token, body.bulkOperation.id)).createdCount, 2);
  });

  it("is the same upload again with its idempotency key", async () => {
    const file = jsonl([{ productNumber: "keyed" }]);
    const headers = { "idempotency-key": "file-1" };
    const first = await send(file, { headers });
    const again = await send(file, { headers });
    assert.equal(again.id, first.id);
    const other = await upload(shop, token, "customers", file, { headers });
    assert.deepEqual([other.status, other.codes], [409, ["IDEMPOTENCY_KEY_MISMATCH"]]);
    await ended(shop, token, first.id);
    assert.equal((await send(file, { headers })).id, first.id);
  });

  it("is refused with the idempotency key of another file, while that is taken in and later", async () => {
    const headers = { "idempotency-key": "file-2" };
    const file = jsonl(Array.from({ length: 700 }, (_, n) => ({ productNumber: `own-${n}`, name: "Bär" })));
    const first = await send(file, { headers });
    const refuse = async () => {
      for (const [body, options] of [
        [file.replace("own-699", "own-698"), {}],
        [file.replace("own-699", "own-698"), { gzip: true }],
        [jsonl([{ productNumber: "own-1" }]), {}],
        [`${file}\n${jsonl([{ productNumber: "own-700" }])}`, {}],
      ] as const) {
        const answer = await upload(shop, token, "products", body, { headers, ...options });
        assert.deepEqual([answer.status, answer.codes], [409, ["IDEMPOTENCY_KEY_MISMATCH"]], answer.text);
        assert.equal(answer.body.errors[0].extensions.retryable, false);
      }
      // The same text is the same file, however it is sent
      assert.equal((await send(file, { headers, gzip: true })).id, first.id);
      const latin = { type: "application/jsonl; charset=iso-8859-1", headers };
      const again = await upload(shop, token, "products", Buffer.from(file, "latin1"), latin);
      assert.equal(again.body.bulkOperation.id, first.id);
    };
    await refuse();
    assert.equal((await ended(shop, token, first.id)).createdCount, 700);
    await refuse();
    assert.equal(await count("product_number like 'own-%'"), 700);
    // Of a file of before, nothing is known
    await shop.sql("update bulk.operation set content_sha256 = null where idempotency_key = 'file-2'");
    assert.equal((await send(jsonl([{ productNumber: "own-1" }]), { headers })).id, first.id);
  });

  it("is refused later when it is long, and refused again and again", async () => {
    const sender = await shop.token({ read: "all", write: "all" });
    const long = "x".repeat(100_000);
    await until(async () => {
      const began = performance.now();
      const { status } = await upload(shop, sender, "products", long, { type: "text/plain" });
      assert.equal(status, 415);
      return performance.now() - began >= 490;
    });
  });

  it("is seen by its own credential only, and so is its cancellation", async () => {
    const { id } = await send(jsonl([{ productNumber: "mine" }]));
    const stranger = await shop.token({ read: "all", write: "all" });
    assert.equal(await operation(shop, stranger, id), null);
    const { body } = await shop.ask(stranger, { query: "{ bulkOperations { edges { node { id } } } }" });
    assert.deepEqual(body.data.bulkOperations.edges, []);
    const select = "bulkOperation { state }";
    const { userErrors } = await shop.mutate("bulkOperationCancel", { id }, { token: stranger, select });
    assert.equal(userErrors[0].code, "NOT_FOUND");
    await ended(shop, token, id);
    const late = await shop.mutate("bulkOperationCancel", { id }, { token, select });
    assert.equal(late.userErrors[0].code, "INVALID_STATE_TRANSITION");
  });
});
