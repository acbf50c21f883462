import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import type { ShippingShop, ShopOrder } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

let shop: ShippingShop;
let order: ShopOrder;
let cancelled: ShopOrder;
before(async () => {
  shop = await openShippingShop();
  await shop.store("glue", "A-2", 3, "G1");
  await shop.store("glue", "A-1", 4, "G1");
  await shop.store("glue", "A-1", 5, "G2");
  await shop.store("nail", "A-1", 9);
  order = await shop.order(
    [
      { product: "glue", quantity: 9 },
      { product: "nail", quantity: 2 },
    ],
    [
      {
        lines: [
          [0, 9],
          [1, 2],
        ],
      },
    ],
  );
  await shipFrom(order, [
    ["A-2", "G1", 3],
    ["A-1", "G1", 4],
    ["A-1", "G2", 2],
  ]);
  cancelled = await shop.order([{ product: "glue", quantity: 1 }], [{ lines: [[0, 1]] }]);
  const id = await shipFrom(cancelled, [["A-1", "G2", 1]]);
  assert.deepEqual((await shop.cancel(id)).userErrors, []);
});
after(() => shop.close());

/** Ships glue from bins, and all other lines of the first fulfillment order. Returns the fulfillment's id. */
async function shipFrom(
  { fulfillmentOrders: [from] }: ShopOrder,
  glue: [bin: string, batch: string, quantity: number][],
): Promise<string> {
  const [first, ...others] = from!.lines;
  const places = glue.map(([bin, batch, quantity]) => ({
    ...{ place: { binLocationId: shop.id[bin] }, quantity, batchId: shop.id[batch] },
  }));
  const quantity = glue.reduce((sum, [, , units]) => sum + units, 0);
  const lines = [
    { fulfillmentOrderLineItemId: first, quantity, places },
    ...others.map((id) => ({ fulfillmentOrderLineItemId: id, quantity: 2 })),
  ];
  const { fulfillment, userErrors } = await shop.fulfill(from!, { lines });
  assert.deepEqual(userErrors, []);
  return fulfillment.id;
}

const nodesOf = (list: any): any[] => list.edges.map(({ node }: any) => node);
const placeOf = ({ binLocation, orderId, locationTypeTechnicalName: type }: any): string =>
  binLocation?.code ??
  (orderId === null ? type : `order ${[order, cancelled].findIndex(({ id }) => id === orderId)}`);
const batchesOf = (list: any) =>
  nodesOf(list)
    .map(({ batch, quantity }) => [batch.number, quantity])
    .sort();

const place = "binLocation { code } orderId locationTypeTechnicalName";
const batches = "batches { edges { node { quantity batch { number } } } }";

describe("the stock of a batch", () => {
  it("is listed by place, without places that hold none of it any more", async () => {
    const { batch } = await shop.read(
      `query ($id: ID!) { batch(id: $id) { stocks { edges { node { quantity stock { ${place} } } } aggregates { sum { quantity } } } } }`,
      { id: shop.id.G1 },
    );
    const found = nodesOf(batch.stocks).map(({ stock, quantity }) => [placeOf(stock), quantity]);
    assert.deepEqual(found.sort(), [["order 0", 7]]);
    assert.equal(batch.stocks.aggregates.sum.quantity, 7);
    // The bins remember the batch, at 0
    const rows = await shop.sql("select from ledger.batch_stock where batch_id = $1", shop.id.G1!);
    assert.ok(rows.length > 2);
  });

  it("is the part of a stock that belongs to it; stock of other products has none", async () => {
    const { stocks } = await shop.read(
      `{ stocks(first: 250) { edges { node { product { productNumber } ${place} ${batches} } } } }`,
    );
    const found = nodesOf(stocks)
      .filter((stock) => stock.locationTypeTechnicalName !== "special_stock_location")
      .map((stock) => [stock.product.productNumber, placeOf(stock), batchesOf(stock.batches)]);
    assert.deepEqual(found.sort(), [
      ["glue", "A-1", [["G2", 3]]],
      ["glue", "A-2", []],
      [
        "glue",
        "order 0",
        [
          ["G1", 7],
          ["G2", 2],
        ],
      ],
      ["glue", "order 1", []],
      ["nail", "A-1", []],
      ["nail", "order 0", []],
    ]);
  });

  it("is found by its batch, and stock by a batch that lies in it", async () => {
    const { batchStocks, stocks } = await shop.read(
      `query ($id: ID!) {
        batchStocks(filter: { batchId: { equals: $id }, stock: { binLocation: { code: { equals: "A-1" } } } }) { edges { node { quantity } } }
        stocks(filter: { batches: { some: { batchId: { equals: $id } } } }) { edges { node { ${place} } } } }`,
      { id: shop.id.G2 },
    );
    assert.deepEqual(nodesOf(batchStocks), [{ quantity: 3 }]);
    assert.deepEqual(nodesOf(stocks).map(placeOf).sort(), ["A-1", "order 0"]);
  });
});

describe("the movements of a batch", () => {
  it("have its units, in the order in which they were booked", async () => {
    const { batch } = await shop.read(
      `query ($id: ID!) { batch(id: $id) { stockMovements { edges { node { quantity stockMovement {
        processTypeTechnicalName sourceBinLocation { code } destinationBinLocation { code } } } } } } }`,
      { id: shop.id.G2 },
    );
    const found = nodesOf(batch.stockMovements).map(({ quantity, stockMovement: move }) => [
      quantity,
      move.sourceBinLocation?.code ?? "elsewhere",
      move.destinationBinLocation?.code ?? "elsewhere",
    ]);
    assert.deepEqual(found, [
      [5, "elsewhere", "A-1"],
      [2, "A-1", "elsewhere"],
      [1, "A-1", "elsewhere"],
      [1, "elsewhere", "A-1"],
    ]);
  });

  it("name it; movements of other products name none", async () => {
    const { stockMovements } = await shop.read(
      `{ stockMovements(first: 250) { edges { node { quantity product { productNumber } ${batches} } } } }`,
    );
    const moves = nodesOf(stockMovements);
    assert.ok(moves.length >= 9);
    for (const { quantity, product, batches } of moves) {
      const sum = batchesOf(batches).reduce((total, [, units]) => total + units, 0);
      assert.equal(sum, product.productNumber === "glue" ? quantity : 0);
    }
  });
});

describe("the lines of fulfillments", () => {
  const lines = `fulfillmentLineItems(first: 250) { edges { node { quantity product { productNumber } fulfillment { state }
    batches { edges { node { quantity batch { number } stockMovement { sourceBinLocation { code } } } }
      groupedAggregates(groupBy: [BATCH_ID]) { keys sum { quantity } } } } } }`;

  it("have the batches that were shipped, by place, also after the fulfillment was cancelled", async () => {
    const { fulfillmentLineItems } = await shop.read(`{ ${lines} }`);
    const found = nodesOf(fulfillmentLineItems).map(({ product, quantity, batches }) => [
      product.productNumber,
      quantity,
      nodesOf(batches)
        .map(({ batch, quantity: units, stockMovement: move }) => [
          batch.number,
          move.sourceBinLocation.code,
          units,
        ])
        .sort(),
    ]);
    assert.deepEqual(found.sort(), [
      ["glue", 1, [["G2", "A-1", 1]]],
      [
        "glue",
        9,
        [
          ["G1", "A-1", 4],
          ["G1", "A-2", 3],
          ["G2", "A-1", 2],
        ],
      ],
      ["nail", 2, []],
    ]);
    const sums = nodesOf(fulfillmentLineItems)
      .find(({ quantity }) => quantity === 9)
      .batches.groupedAggregates.map(({ keys, sum }: any) => [keys[0], sum.quantity]);
    assert.deepEqual(Object.fromEntries(sums), { [shop.id.G1!]: 7, [shop.id.G2!]: 2 });
  });

  it("are found by a batch, up to their orders, without those of cancelled fulfillments", async () => {
    const { batch } = await shop.read(
      `query ($id: ID!) { batch(id: $id) { fulfillmentLineItems(
        filter: { NOT: { fulfillmentLineItem: { fulfillment: { state: { equals: Cancelled } } } } }) { edges { node { quantity
          fulfillmentLineItem { fulfillmentOrderLineItem { fulfillmentOrder { destinationOrderId } } } } } } } }`,
      { id: shop.id.G2 },
    );
    assert.deepEqual(
      nodesOf(batch.fulfillmentLineItems).map((node) => [
        node.quantity,
        node.fulfillmentLineItem.fulfillmentOrderLineItem.fulfillmentOrder.destinationOrderId,
      ]),
      [[2, order.id]],
    );
  });

  it("are objects with ids of their own", async () => {
    const { batch } = await shop.read(
      "query ($id: ID!) { batch(id: $id) { fulfillmentLineItems(first: 1) { edges { node { id quantity batchId } } } } }",
      { id: shop.id.G1 },
    );
    const [node] = nodesOf(batch.fulfillmentLineItems);
    const { again } = await shop.read(
      "query ($id: ID!) { again: fulfillmentLineItemBatch(id: $id) { id quantity batchId } }",
      { id: node.id },
    );
    assert.deepEqual(again, node);
  });
});

const scopes = {
  batchStocks: ["stocks", "batches"],
  stockMovementBatches: ["stocks", "batches"],
  fulfillmentLineItems: ["fulfillment_orders", "stocks", "batches"],
};
const lists: [list: keyof typeof scopes, fields: string][] = [
  ["batchStocks", "quantity"],
  ["stockMovementBatches", "quantity"],
  ["fulfillmentLineItems", "batches { edges { node { quantity } } }"],
];

describe("scopes", () => {
  for (const [list, fields] of lists) {
    const query = `{ ${list} { edges { node { ${fields} } } } }`;
    const needed = scopes[list];
    it(`of the batches in ${list} are all needed`, async () => {
      const whole = await shop.ask(await shop.token({ read: needed }), { query });
      assert.equal(whole.body.errors, undefined, whole.text);
      assert.ok(nodesOf(whole.body.data[list]).length > 0);
      for (const left of needed) {
        const token = await shop.token({ read: needed.filter((scope) => scope !== left) });
        const { body } = await shop.ask(token, { query });
        assert.equal(body.errors[0].extensions.code, "FORBIDDEN", left);
      }
    });
  }

  const tables: [table: string, needed: string[]][] = [
    ["ledger.batch_stock", scopes.batchStocks],
    ["ledger.stock_movement_batch", scopes.stockMovementBatches],
    ["erp.fulfillment_stock_movement", scopes.fulfillmentLineItems],
  ];
  it("hold in Postgres as well: a table has no rows for those who lack one", async () => {
    const client = await shop.owner.connect();
    const columns: Record<string, string> = { "erp.fulfillment_stock_movement": "stock_movement_id" };
    const countOf = async (table: string, read: string[]) => {
      await client.query("select set_config('service.scopes', $1, true)", [
        read.map((name) => `${name}:read`).join(" "),
      ]);
      return (await client.query(`select ${columns[table] ?? "batch_id"} from ${table}`)).rows.length;
    };
    try {
      await client.query("begin; set local role service_api");
      for (const [table, needed] of tables) {
        assert.ok((await countOf(table, needed)) > 0, table);
        for (const left of needed)
          assert.equal(
            await countOf(
              table,
              needed.filter((scope) => scope !== left),
            ),
            0,
            `${table} without ${left}`,
          );
      }
    } finally {
      await client.query("rollback");
      client.release();
    }
  });
});

it("a batch that is on no shelf any more keeps its history", async () => {
  const [row] = await shop.sql("select physical_stock from erp.batch where id = $1", shop.id.G1!);
  assert.equal(row.physical_stock, 0);
  const { batch } = await shop.read(
    "query ($id: ID!) { batch(id: $id) { stockMovements(first: 1) { edges { node { stockMovement { id } } } } } }",
    { id: shop.id.G1 },
  );
  assert.match(uuidOf(nodesOf(batch.stockMovements)[0].stockMovement.id), /^[0-9a-f-]{36}$/);
});

it("batches are found by the supplier's lot and by dates, and sorted by them", async () => {
  await shop.sql(
    "update erp.batch set supplier_lot = 'S-' || number, best_before_date = ('2030-01-0' || right(number, 1))::date",
  );
  const { byLot, byDate, sorted } = await shop.read(`{
    byLot: batches(filter: { supplierLot: { equals: "S-G2" } }) { edges { node { number } } }
    byDate: batches(filter: { bestBeforeDate: { lt: "2030-01-02" } }) { edges { node { number } } }
    sorted: batches(orderBy: BEST_BEFORE_DATE_DESC, first: 1) { edges { node { number } } } }`);
  const numbers = [byLot, byDate, sorted].map((list) => nodesOf(list).map(({ number }) => number));
  assert.deepEqual(
    numbers.map((found) => found.sort()),
    [["G2"], ["G1", "N1"], ["G2"]],
  );
});
