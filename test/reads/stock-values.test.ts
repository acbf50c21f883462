import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sequence } from "../events/support.ts";
import type { ValuationShop } from "../lib/valuation-shop.ts";
import { openValuationShop } from "../lib/valuation-shop.ts";

let shop: ValuationShop;
before(async () => {
  shop = await openValuationShop();
  await shop.buy("hammer", 10, 2);
  await shop.passDays(10);
  await shop.buy("hammer", 10, 3);
  await shop.passDays(10);
  const move = shop.move("hammer", "hall", "B-1", { quantity: 7 });
  assert.deepEqual((await shop.mutate("stockTransfer", { lines: [move] })).userErrors, []);
  await shop.buy("nail", 3, 1);
});
after(() => shop.close());

const fields = "method quantity value faultCount";
const nodesOf = (list: any): any[] => list.edges.map(({ node }: any) => node);

/** The value of the stock with arguments. */
async function valueOf(args: string): Promise<any> {
  const { stockValuation } = await shop.read(`{ stockValuation${args && `(${args})`} { ${fields} } }`);
  return [stockValuation.quantity, stockValuation.value];
}

describe("the value of the stock", () => {
  it("is the present one, or of the end of a day", async () => {
    assert.deepEqual(await valueOf(""), [23, 53]);
    assert.deepEqual(await valueOf(`day: "${shop.day(0)}"`), [23, 53]);
    assert.deepEqual(await valueOf(`day: "${shop.day(1)}"`), [20, 50]);
    assert.deepEqual(await valueOf(`day: "${shop.day(11)}"`), [10, 20]);
    assert.deepEqual(await valueOf(`day: "${shop.day(30)}"`), [0, 0]);
  });

  it("is as of a number of the ledger", async () => {
    const { stockValuation: then } = await shop.read(
      `{ stockValuation(day: "${shop.day(11)}") { sequence method faultCount } }`,
    );
    assert.deepEqual([then.method, then.faultCount], ["moving_average", 0]);
    assert.deepEqual(await valueOf(`sequence: ${then.sequence}`), [10, 20]);
    assert.deepEqual(await valueOf("sequence: 0"), [0, 0]);
  });

  it("is refused for a day and a number together, and for a number that no movement has", async () => {
    const token = await shop.token({ read: ["products", "valuation"] });
    const codesOf = async (args: string) => [
      ...(await shop.ask(token, { query: `{ stockValuation(${args}) { value } }` })).codes,
      ...(
        await shop.ask(token, {
          query: `{ products(first: 1) { edges { node { stockValue(${args}) { value } } } } }`,
        })
      ).codes,
    ];
    const both = await codesOf(`day: "${shop.day(1)}", sequence: 1`);
    assert.deepEqual(both, ["BAD_USER_INPUT", "BAD_USER_INPUT"]);
    assert.deepEqual(await codesOf("sequence: 1000000"), ["AS_OF_TOO_LATE", "AS_OF_TOO_LATE"]);
    assert.deepEqual(await codesOf("sequence: 1, day: null"), []);
  });

  it("is divided among warehouses", async () => {
    assert.deepEqual(await valueOf(`warehouseId: "${shop.id.shed}"`), [7, 17.5]);
    assert.deepEqual(await valueOf(`warehouseId: "${shop.id.hall}"`), [16, 35.5]);
    assert.deepEqual(await valueOf(`warehouseId: "${shop.id.returns}"`), [0, 0]);
    assert.deepEqual(await valueOf(`warehouseId: "${shop.id.shed}", day: "${shop.day(1)}"`), [0, 0]);
  });

  it("is shown of each product", async () => {
    const { products } = await shop.read(
      `{ products(first: 10) { edges { node { productNumber stockValue { ${fields} } shed: stockValue(warehouseId: "${shop.id.shed}") { value } } } } }`,
    );
    const values = nodesOf(products).map(({ productNumber, stockValue, shed }) => [
      productNumber,
      stockValue.quantity,
      stockValue.value,
      shed.value,
    ]);
    assert.deepEqual(values.sort(), [
      ["glue", 0, 0, 0],
      ["hammer", 20, 50, 17.5],
      ["nail", 3, 3, 0],
    ]);
  });

  it("can be shown by another method", async () => {
    const { order } = await shop.sell("hammer", 10);
    assert.deepEqual(await valueOf("method: moving_average"), [13, 28]);
    assert.deepEqual(await valueOf("method: fifo"), [13, 33]);
    assert.ok(order);
  });
});

describe("the cost of goods", () => {
  /** The cost and margin of an order, and the cost of a fulfillment. */
  async function costsOf(order: string, fulfillment: string): Promise<unknown[]> {
    const found = await shop.read(
      `query ($order: ID!, $fulfillment: ID!) {
        order(id: $order) { costOfGoods margin } fulfillment(id: $fulfillment) { costOfGoods } }`,
      { order, fulfillment },
    );
    return [found.order.costOfGoods, found.order.margin, found.fulfillment.costOfGoods];
  }

  it("is what the goods were worth when they left, also after the period was closed", async () => {
    const { order, fulfillment } = await shop.sell("hammer", 2, 10);
    assert.deepEqual(await costsOf(order, fulfillment), [5, 15, 5]);
    await shop.buy("hammer", 2, 50);
    await shop.passDays(20);
    assert.deepEqual(await costsOf(order, fulfillment), [5, 15, 5]);
    await shop.report(15);
    assert.deepEqual(await costsOf(order, fulfillment), [5, 15, 5]);
  });

  it("goes back with goods that come back, for what they cost", async () => {
    const { order, fulfillment } = await shop.sell("nail", 2, 4);
    assert.deepEqual(await costsOf(order, fulfillment), [2, 6, 2]);
    await shop.passDays(3);
    await shop.report(2);
    await shop.buy("nail", 1, 100);
    assert.deepEqual((await shop.cancel(fulfillment)).userErrors, []);
    await sequence(shop.owner);
    assert.deepEqual(await costsOf(order, fulfillment), [0, null, 2]);
    assert.deepEqual((await shop.sql("select from valuation.proof")).length, 0);
  });

  it("is in the default currency, and so is the margin", async () => {
    const { order, fulfillment } = await shop.sell("nail", 1, 50);
    const [cost] = await costsOf(order, fulfillment);
    await shop.sql(
      "update erp.sales_order set currency_id = (select id from erp.currency where iso_code = 'USD') where id = $1",
      order,
    );
    assert.deepEqual((await costsOf(order, fulfillment)).slice(0, 2), [cost, 50 / 1.25 - Number(cost)]);
  });

  it("is null while a price is missing, and the margin until all is shipped", async () => {
    await shop.sql("update erp.product set is_batch_managed = false where product_number = 'glue'");
    const receipt = await shop.buy("glue", 3, null);
    const { order, fulfillment } = await shop.sell("glue", 1);
    assert.deepEqual(await costsOf(order, fulfillment), [null, null, null]);
    const { products } = await shop.read(
      `{ products(filter: { productNumber: { equals: "glue" } }) { edges { node { stockValue { ${fields} } } } } }`,
    );
    assert.ok(nodesOf(products)[0].stockValue.faultCount > 0);
    await shop.sql(
      "update erp.goods_receipt_line_item set unit_price = 2 where goods_receipt_id = $1",
      receipt,
    );
    assert.deepEqual(await costsOf(order, fulfillment), [2, 8, 2]);

    const half = await shop.order([{ product: "glue", quantity: 2, price: 5 }], [{ lines: [[0, 1]] }]);
    const shipped = await shop.fulfill(half.fulfillmentOrders[0]!);
    await sequence(shop.owner);
    assert.deepEqual(await costsOf(half.id, shipped.fulfillment.id), [2, null, 2]);
  });

  it("is null in the moment until a shipment has its number in the ledger", async () => {
    const order = await shop.order([{ product: "hammer", quantity: 1 }], [{ lines: [[0, 1]] }]);
    const { fulfillments } = await shop.ship(order);
    const { rows } = await shop.owner.query("delete from ledger.movement_sequence returning *");
    assert.deepEqual(await costsOf(order.id, fulfillments[0].id), [null, null, null]);
    for (const { sequence: number, movement_id: id } of rows)
      await shop.owner.query("insert into ledger.movement_sequence values ($1, $2)", [number, id]);
    await sequence(shop.owner);
    assert.notDeepEqual(await costsOf(order.id, fulfillments[0].id), [null, null, null]);
  });
});

describe("the scope valuation:read", () => {
  const queries: [query: string, read: string[]][] = [
    ["{ stockValuation { value } }", []],
    ["{ stockValuationReports { edges { node { value lines { edges { node { value } } } } } } }", []],
    ["{ products { edges { node { stockValue { value } } } } }", ["products"]],
    ["{ orders { edges { node { costOfGoods } } } }", ["orders"]],
    ["{ orders { edges { node { margin } } } }", ["orders"]],
    ["{ fulfillments { edges { node { costOfGoods } } } }", ["fulfillment_orders"]],
  ];
  for (const [query, read] of queries)
    it(`is needed by ${query}`, async () => {
      const without = await shop.ask(await shop.token({ read: [...read, "stocks"] }), { query });
      assert.equal(without.body.errors[0].extensions.code, "FORBIDDEN");
      const own = await shop.ask(await shop.token({ read: [...read, "valuation"] }), { query });
      assert.equal(own.body.errors, undefined, own.text);
    });

  it("holds in Postgres as well", async () => {
    const client = await shop.owner.connect();
    const order = (await shop.sql("select id from erp.sales_order limit 1"))[0].id;
    const read = async (scopes: string) => {
      await client.query("select set_config('service.scopes', $1, true)", [scopes]);
      const { rows } = await client.query(
        `select (select count(*) from valuation.report)::int as reports, valuation.cost_of_order($1) as cost,
          valuation.margin_of_order($1) as margin, (valuation.stock_value(null, null, null, null, null)).value as value`,
        [order],
      );
      return rows[0];
    };
    try {
      await client.query("begin; set local role service_api");
      const nothing = await read("orders:read products:read stocks:read");
      assert.deepEqual(nothing, { reports: 0, cost: null, margin: null, value: null });
      const all = await read("valuation:read");
      assert.ok(all.reports > 0 && Number(all.value) > 0, JSON.stringify(all));
    } finally {
      await client.query("rollback");
      client.release();
    }
  });
});
