import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import { jsonl, startTestBulk } from "../bulk/support.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { runCommand } from "./process.ts";

let shop: ShippingShop;
let bulk: BulkWork;
let folder: string;
before(async () => {
  shop = await openShippingShop();
  bulk = startTestBulk(shop);
  folder = await mkdtemp(join(tmpdir(), "files-"));
});
after(async () => {
  await rm(folder, { recursive: true });
  await bulk.stop();
  await shop.close();
});

test("files are loaded and written by commands, with the credentials of the environment", async () => {
  const { clientId, clientSecret } = await shop.credential({ read: "all", write: "all" });
  const environment = { API_URL: shop.url, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
  const file = join(folder, "rows.jsonl");
  await writeFile(
    file,
    jsonl([
      { productNumber: "c-1", name: "One" },
      { productNumber: "c-2", taxRate: -1 },
    ]),
  );
  const loaded = await runCommand(["import", "products", file], environment);
  assert.equal(loaded.code, 1, loaded.output);
  assert.match(loaded.output, /1 created, 0 updated, 0 unchanged, 1 refused/);
  const [error] = (await readFile(`${file}.errors.jsonl`, "utf8")).split("\n");
  assert.deepEqual((({ line, code }) => [line, code])(JSON.parse(error!)), [2, "OUT_OF_RANGE"]);

  const query = `query ($number: String) { products(filter: { productNumber: { equals: $number } }) { edges { node { name } } } }`;
  const out = join(folder, "out.csv");
  const written = await runCommand(["export", query, out, "--variables", '{"number":"c-1"}'], environment);
  assert.equal(written.code, 0, written.output);
  assert.match(await readFile(out, "utf8"), /^id,name\ngid:[^,]+,One\n$/);

  const windows = join(folder, "windows.csv");
  await writeFile(windows, Buffer.from("productNumber,name\nc-3,B\xe4r\n", "latin1"));
  const named = await runCommand(["import", "products", windows, "--charset", "windows-1252"], environment);
  assert.match(named.output, /1 created, 0 updated, 0 unchanged, 0 refused/);
  assert.deepEqual(await shop.sql("select name from erp.product where product_number = 'c-3'"), [
    { name: "Bär" },
  ]);
  const latin = join(folder, "latin.graphql");
  await writeFile(
    latin,
    Buffer.from('{ products(filter: { productNumber: { equals: "\xe4" } }) { a } }', "latin1"),
  );

  const refused = [
    [["import", "products", windows], environment, 1, /Line 2 is not valid UTF-8\. .*charset/],
    [["import", "products", windows, "--charset", "cp850"], environment, 1, /charset “cp850”/],
    [["export", latin, out], environment, 1, /latin\.graphql is not in UTF-8/],
    [["import", "products", file], {}, 1, /CLIENT_ID/],
    [["import", "prices", file], environment, 1, /nothing at this address/],
    [["import", "products", join(folder, "none.csv")], environment, 1, /There is no file/],
    [["import", "products", file], { ...environment, CLIENT_SECRET: "wrong" }, 1, /refused/],
    [["export", "{ a }", out], environment, 1, /can't be exported/],
    [["export", "{ a }", "out.xml"], environment, 2, /\.jsonl or a \.csv/],
    [["export", "{ a }", out], { ...environment, API_URL: "http://127.0.0.1:1" }, 1, /can't be reached/],
  ] as const;
  for (const [command, settings, exitCode, told] of refused) {
    const result = await runCommand([...command], settings);
    assert.equal(result.code, exitCode, result.output);
    assert.match(result.output, told);
  }
});
