import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { pino } from "pino";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import { ended, startTestBulk, upload } from "../bulk/support.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { copyReferenceData } from "./reference-data.ts";
import { exportQuery, upserts } from "./round-trip.ts";
import { committedSchema } from "./schema-walk.ts";

const all = upserts(committedSchema("unstable"));

/** The order in which resources are imported: those that others name come first. */
const order = ["suppliers", "warehouses", "products", "customers", "orders", "batches"];

/** What an import refuses of the demonstration shop, and why. */
const refused: Record<string, (row: any) => boolean> = {
  // Carts that neither the storefront nor the shop has numbered; ids of a storefront need its sales channel
  orders: ({ orderNumber, storefrontId, salesChannel }) =>
    storefrontId === null ? orderNumber === null : salesChannel === null,
};

/** A shop: a database, a process of the service, and its bulk operations. */
interface Shop extends TestService {
  bulk: BulkWork;
  access: string;
}

async function openShop(template: "template_demo" | "template_schema"): Promise<Shop> {
  const service = await startService({ template });
  const access = await service.token({ read: "all", write: "all" });
  return { ...service, access, bulk: startTestBulk(service, { logger: pino({ level: "warn" }) }) };
}

/** Exports a list, and returns the file. */
async function exported(shop: Shop, query: string, format: string): Promise<string> {
  const run =
    "mutation ($input: BulkOperationRunInput!) { bulkOperationRun(input: $input) { bulkOperation { id } userErrors { message } } }";
  const { body, text } = await shop.ask(shop.access, { query: run, variables: { input: { query, format } } });
  assert.deepEqual(body.data?.bulkOperationRun.userErrors, [], text);
  const done = await ended(shop, shop.access, body.data.bulkOperationRun.bulkOperation.id);
  assert.equal(done.state, "completed", JSON.stringify(done));
  return (await fetch(`${shop.url}${done.resultUrl}`)).text();
}

const rowsOf = (file: string): any[] =>
  file
    .trimEnd()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe("a shop that moves", () => {
  let from: Shop;
  let to: Shop;
  before(async () => {
    [from, to] = await Promise.all([openShop("template_demo"), openShop("template_schema")]);
    await copyReferenceData(from.owner, to.owner);
  });
  after(async () => {
    for (const shop of [from, to]) {
      await shop.bulk.stop();
      await shop.close();
    }
  });

  it("has a place in the order for each upsert", () => {
    assert.deepEqual([...order].sort(), all.map(({ resource }) => resource).sort());
  });

  for (const resource of order)
    it(`${resource}: what was exported can be imported, and is exported again`, async () => {
      const query = exportQuery(all.find((each) => each.resource === resource)!);
      const file = await exported(from, query, "jsonl_nested");
      const rows = rowsOf(file);
      assert.ok(rows.length > 0);
      const { body, text } = await upload(to, to.access, resource, file);
      const done = await ended(to, to.access, body.bulkOperation?.id ?? assert.fail(text));
      const errors =
        done.errorsUrl === null ? [] : rowsOf(await (await fetch(`${to.url}${done.errorsUrl}`)).text());
      const isRefused = refused[resource] ?? (() => false);
      const lost = rows.map((row, index) => ({ row, line: index + 1 })).filter(({ row }) => isRefused(row));
      assert.deepEqual(
        new Set(errors.map(({ line }) => line)),
        new Set(lost.map(({ line }) => line)),
        JSON.stringify(errors.slice(0, 5)),
      );
      const again = rowsOf(await exported(to, query, "jsonl_nested"));
      const sorted = (some: any[]) => some.map((row) => JSON.stringify(row)).sort();
      assert.deepEqual(sorted(again), sorted(rows.filter((row) => !isRefused(row))));
    });
});
