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
const order = [
  ...["tags", "customerGroups", "paymentMethods", "shippingMethods", "salesChannels", "suppliers"],
  ...["warehouses", "locations", "binLocations", "products", "customers", "orders", "batches"],
  ...["quotes", "productSupplierConfigurations", "productWarehouseConfigurations"],
  "productStockLocationConfigurations",
];

/** Rows of the demonstration shop that can't move, because nothing names them in every shop. */
const left: Record<string, (row: any) => boolean> = {
  // An old place without a warehouse
  locations: ({ storefrontId, warehouseCode }) => storefrontId === null && warehouseCode === null,
  // Carts without a number; ids of a storefront need its sales channel
  orders: ({ orderNumber, storefrontId, salesChannelTechnicalName }) =>
    storefrontId === null ? orderNumber === null : salesChannelTechnicalName === null,
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
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** Imports a file. Returns the operation, and the numbers of refused lines with their errors. */
async function imported(shop: Shop, resource: string, file: string, type: string) {
  const path = resource.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const { body, text } = await upload(shop, shop.access, path, file, { type });
  const done = await ended(shop, shop.access, body.bulkOperation?.id ?? assert.fail(text));
  assert.equal(done.state, "completed");
  const errors = done.errorsUrl === null ? "" : await (await fetch(`${shop.url}${done.errorsUrl}`)).text();
  return { ...done, errors: rowsOf(errors) };
}

/** Gives names to sales channels and customer groups that have none, as a merchant does before the move. */
async function nameAll(shop: Shop, resource: string): Promise<void> {
  const query = `{ ${resource}(first: 100) { edges { node { id technicalName } } } }`;
  const { body } = await shop.ask(shop.access, { query });
  const rows = body.data[resource].edges.map(({ node }: any, index: number) => ({
    id: node.id,
    technicalName: node.technicalName ?? `${resource}-${index}`,
  }));
  const type = `${resource.charAt(0).toUpperCase()}${resource.slice(1)}UpsertInput`;
  const upsert = `mutation ($input: ${type}!) { ${resource}Upsert(input: $input) { userErrors { message } } }`;
  const answer = await shop.ask(shop.access, { query: upsert, variables: { input: { [resource]: rows } } });
  assert.deepEqual(answer.body.data?.[`${resource}Upsert`].userErrors, [], answer.text);
}

describe("a shop that moves", () => {
  let from: Shop;
  let to: Shop;
  before(async () => {
    [from, to] = await Promise.all([openShop("template_demo"), openShop("template_schema")]);
    await copyReferenceData(from.owner, to.owner);
    await nameAll(from, "salesChannels");
    await nameAll(from, "customerGroups");
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
      const file = await exported(from, query, "import");
      const rows = rowsOf(file);
      assert.ok(rows.length > 0);
      const isLeft = left[resource] ?? (() => false);
      const { errors } = await imported(to, resource, file, "application/jsonl");
      const leftLines = rows.flatMap((row, index) => (isLeft(row) ? [index + 1] : []));
      assert.deepEqual(
        [...new Set(errors.map(({ line }: any) => line))],
        leftLines,
        JSON.stringify(errors.slice(0, 5)),
      );
      const sorted = (some: any[]) => some.map((row) => JSON.stringify(row)).sort();
      const again = await exported(to, query, "import");
      assert.deepEqual(sorted(rowsOf(again)), sorted(rows.filter((row) => !isLeft(row))));
    });

  for (const resource of order)
    it(`${resource}: a CSV says the same as the shop that wrote it`, async () => {
      const query = exportQuery(all.find((each) => each.resource === resource)!);
      const csv = await exported(to, query, "import_csv");
      const { createdCount, updatedCount, errors } = await imported(to, resource, csv, "text/csv");
      assert.deepEqual([createdCount, updatedCount], [0, 0]);
      // Lines of an order or a quote that have the same identifier can't be told apart
      const isAmbiguous = ({ code, field }: any) => code === "NOT_UNIQUE" && field[0] === "lineItems";
      assert.deepEqual(
        errors.filter((error: any) => !["orders", "quotes"].includes(resource) || !isAmbiguous(error)),
        [],
      );
    });
});
