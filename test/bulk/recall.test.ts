import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BulkWork } from "../../src/bulk/bulk-work.ts";
import type { TracedShop } from "../lib/traced-shop.ts";
import { openTracedShop } from "../lib/traced-shop.ts";
import { addChannel, ended, linesAt, startTestBulk } from "./support.ts";
import { uuidOf } from "../lib/ids.ts";

let shop: TracedShop;
let bulk: BulkWork;
let token: string;
let orders: string[];
let toDelete: string;
before(async () => {
  shop = await openTracedShop();
  bulk = startTestBulk(shop);
  token = await shop.token({ read: "all", write: "all" });
  const channel = await addChannel(shop);
  const [customer] = await shop.sql(
    `insert into erp.customer (customer_number, email, first_name, last_name, sales_channel_id, group_id)
     select 'C-1', 'ada@example.com', 'Ada', 'Lovelace', id, customer_group_id from erp.sales_channel where id = $1 returning id`,
    channel,
  );
  await shop.store("glue", "A-1", 400, "G1");
  await shop.store("glue", "A-2", 40, "G2");
  // More orders than a page of a nested list has
  orders = [];
  for (let n = 0; n < 3; n++) orders.push((await shop.sell(["A-1", "G1", 1 + n])).id);
  await shop.sql("update erp.sales_order set customer_id = $2 where id = $1", orders[1]!, customer.id);
  await shop.sql(
    `update erp.fulfillment_order set shipping_address = '{"city": "London"}' where destination_order_id = $1`,
    orders[1]!,
  );
  const gone = await shop.sell(["A-1", "G1", 7], ["A-2", "G2", 5]);
  toDelete = gone.id;
  await shop.sql("delete from erp.sales_order where id = $1", toDelete);
  await shop.owner.query(many, [uuidOf(shop.id.glue!), uuidOf(shop.id.G1!), uuidOf(shop.id["A-1"]!)]);
});
after(async () => {
  await bulk.stop();
  await shop.close();
});

/** Ships a unit to each of 300 new orders. */
const many = `
  with o as (
    insert into erp.sales_order (order_number, currency_id, state) select 'M-' || n, c.id, 'completed'
    from erp.currency c, generate_series(1, 300) n where c.is_default_currency returning id
  ), m as (
    insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name, source_bin_location_id,
      destination_location_type_technical_name, destination_order_id)
    select $1, 1, 'bin_location', $3, 'order', id from o returning id
  )
  insert into ledger.stock_movement_batch select id, $2, 1 from m`;

async function exported(query: string, input: object = {}) {
  const { bulkOperation, userErrors } = await shop.mutate(
    "bulkOperationRun",
    { query, ...input },
    { token, select: "bulkOperation { id }" },
  );
  assert.deepEqual(userErrors, []);
  const done = await ended(shop, token, bulkOperation.id);
  assert.equal(done.state, "completed", done.errorMessage);
  return done;
}

const recall = `query ($batches: [ID!]) { batches(filter: { id: { in: $batches } }) { edges { node { number
  shipments { edges { node { order { orderNumber customer { firstName lastName email } } keptQuantity shippingAddress } } } } } } }`;

describe("a recall list by bulk export", () => {
  it("has a line for each order that got units of the batches, also for deleted ones", async () => {
    const done = await exported(recall, { variables: { batches: [shop.id.G1, shop.id.G2] } });
    const lines = await linesAt(shop, done.resultUrl);
    const batches = lines.filter((line) => !("__parentId" in line));
    assert.deepEqual(batches.map(({ number }) => number).sort(), ["G1", "G2"]);
    const of = (batch: string) => lines.filter((line) => line.__parentId === shop.id[batch]);

    const units = (list: any[]) => list.reduce((sum, { keptQuantity }) => sum + keptQuantity, 0);
    assert.equal(of("G1").length, 3 + 1 + 300);
    assert.equal(units(of("G1")), 1 + 2 + 3 + 7 + 300);
    assert.equal(new Set(of("G1").map(({ order }) => order?.orderNumber)).size, 304);
    const named = of("G1").filter(({ order }) => order?.customer);
    assert.deepEqual(
      named.map(({ order, keptQuantity, shippingAddress }) => [
        order.customer,
        keptQuantity,
        shippingAddress,
      ]),
      [[{ firstName: "Ada", lastName: "Lovelace", email: "ada@example.com" }, 2, { city: "London" }]],
    );
    assert.deepEqual(
      of("G2").map(({ order, keptQuantity, shippingAddress }) => [order, keptQuantity, shippingAddress]),
      [[null, 5, null]],
    );
  });

  it("is a table as CSV", async () => {
    const done = await exported(recall, { variables: { batches: [shop.id.G2] }, format: "csv" });
    const text = await (await fetch(`${shop.url}${done.resultUrl}`)).text();
    const [header] = text.split(/\r?\n/);
    for (const column of ["orderNumber", "customer.email"])
      assert.ok(header!.includes(`shipments.order.${column}`), header);
    assert.ok(header!.includes("shipments.keptQuantity"), header);
  });

  it("ends when the credential may not read customers", async () => {
    const own = await shop.token({ read: ["batches", "stocks", "orders"], write: ["bulk_operations"] });
    const { body } = await shop.tryMutate(
      "bulkOperationRun",
      { query: recall, variables: { batches: [shop.id.G1] } },
      { token: own, select: "bulkOperation { id }" },
    );
    assert.equal(body.data.bulkOperationRun.bulkOperation, null);
    assert.equal(body.data.bulkOperationRun.userErrors.length, 1);
  });
});

describe("events of EPCIS by bulk export", () => {
  it("are lines with an event, or with the reasons why there is none", async () => {
    await shop.sql("update erp.product set gtin = '9521000000179' where product_number = 'glue'");
    await shop.mutate("warehouseUpdate", { id: shop.id.hall, gln: "9521000000346" });
    await shop.store("hammer", "A-1", 1);
    const done = await exported(
      "{ stockMovements { edges { node { quantity epcis { event problems } } } } }",
    );
    const lines = await linesAt(shop, done.resultUrl);
    const events = lines.filter(({ epcis }) => epcis.event);
    assert.deepEqual(
      lines.filter(({ epcis }) => !epcis.event).map(({ epcis }) => epcis.problems),
      [["ProductWithoutGtin"]],
    );
    const shipped = events.find(
      ({ epcis, quantity }) => epcis.event.bizStep === "shipping" && quantity === 2,
    );
    const { eventID, eventTime, bizTransactionList, ...event } = shipped.epcis.event;
    assert.deepEqual(event, {
      ...{ type: "ObjectEvent", action: "OBSERVE", bizStep: "shipping", disposition: "in_transit" },
      readPoint: { id: "https://id.gs1.org/414/9521000000346/254/A-1" },
      quantityList: [{ epcClass: "https://id.gs1.org/01/09521000000179/10/G1", quantity: 2 }],
      eventTimeZoneOffset: "+00:00",
    });
    assert.deepEqual(bizTransactionList.map(({ type }: any) => type).sort(), ["desadv", "poc"]);
    assert.match(eventTime, /Z$/);
    assert.match(eventID, /^urn:uuid:/);
  });
});
