import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { ended, jsonl, linesAt, startTestBulk, upload } from "./support.ts";

// Every upsert is a bulk import, without being listed anywhere
let shop: ShippingShop;
let bulk: BulkWork;
let token: string;
before(async () => {
  shop = await openShippingShop();
  bulk = startTestBulk(shop);
  token = await shop.token({ read: "all", write: "all" });
  await shop.owner.query(
    `insert into erp.country (iso_code, name) values ('DE', '{"en-GB":"Germany"}') on conflict do nothing`,
  );
});
after(async () => {
  await bulk.stop();
  await shop.close();
});

async function load(resource: string, file: string, options = {}) {
  const { status, body, text } = await upload(shop, token, resource, file, options);
  assert.equal(status, 202, text);
  const done = await ended(shop, token, body.bulkOperation.id);
  return { ...done, errors: done.errorsUrl ? await linesAt(shop, done.errorsUrl) : [] };
}

const nameByLocale = { "en-GB": "Bill", "de-DE": "Rechnung" };
/** A row of each kind, in an order in which rows find what they name. */
const files: [resource: string, row: object][] = [
  ["tags", { name: "loaded" }],
  ["customer_groups", { technicalName: "loaded", nameByLocale }],
  ["payment_methods", { technicalName: "loaded", nameByLocale, descriptionByLocale: nameByLocale }],
  ["shipping_methods", { technicalName: "loaded", nameByLocale }],
  [
    "sales_channels",
    {
      ...{ technicalName: "loaded", nameByLocale, countryIsoCode: "DE", currencyIsoCode: "EUR" },
      ...{ customerGroupTechnicalName: "loaded", paymentMethodTechnicalName: "loaded" },
      registrationGroupTechnicalNames: ["loaded"],
    },
  ],
  ["locations", { storefrontId: "loaded", name: "Loaded" }],
  ["product_warehouse_configurations", { productNumber: "nail", warehouseCode: "hall", reorderPoint: 5 }],
  [
    "product_stock_location_configurations",
    { productNumber: "nail", warehouseCode: "hall", binLocationCode: "A-1", reorderPoint: 5 },
  ],
];

describe("files of master data", () => {
  it("are taken of each kind: the second time they change nothing", async () => {
    for (const [resource, row] of files) {
      const first = await load(resource, jsonl([row, { ...row, [resource]: 1 }]));
      assert.deepEqual([first.resource, first.createdCount, first.refusedCount], [resource, 1, 1]);
      assert.match(first.errors[0].message, /is not defined/, resource);
      const second = await load(resource, jsonl([row]));
      assert.deepEqual([second.doneCount, second.createdCount, second.updatedCount], [1, 0, 0], resource);
    }
  });

  it("are taken as CSV, with a column for each language", async () => {
    const file = "technicalName,nameByLocale.en-GB,nameByLocale.de-DE\nbycsv,By CSV,Aus CSV\n";
    const { createdCount, errors } = await load("shipping_methods", file, { type: "text/csv" });
    assert.deepEqual([createdCount, errors], [1, []]);
  });

  it("need the right to write the resource", async () => {
    const reader = await shop.token({ read: "all", write: ["bulk_operations", "tags"] });
    const { status, text } = await upload(shop, reader, "sales_channels", jsonl([{ technicalName: "x" }]));
    assert.equal(status, 403);
    assert.match(text, /sales_channels:write/);
  });

  it("report refused rows by line and field", async () => {
    const { errors } = await load("sales_channels", jsonl([{ ...files[4]![1], countryIsoCode: "XX" }]));
    assert.deepEqual(
      errors.map(({ line, code, field }: any) => [line, code, field]),
      [[1, "NOT_FOUND", ["countryIsoCode"]]],
    );
  });
});
