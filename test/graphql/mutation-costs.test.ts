import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// The cost of a mutation follows from its input, and its answer is never larger than what was paid for
let shop: ShippingShop;
let token: string;
before(async () => {
  shop = await openShippingShop({ versions });
  token = await shop.token({ read: "all", write: "all" });
  await shop.sql(
    `insert into erp.bin_location (warehouse_id, code) select id, 'M-' || n from erp.warehouse, generate_series(1, 250) n
     where code = 'hall'`,
  );
  const bins = await shop.sql("select code, 'gid://service/BinLocation/' || id as id from erp.bin_location");
  for (const { code, id } of bins) shop.id[code] = id;
  await shop.mutate("stockAdjust", {
    lines: Array.from({ length: 250 }, (_, index) => ({ ...lines.stockAdjust!(index + 1), delta: 100 })),
  });
});
after(() => shop.close());

const bin = (n: number) => ({ binLocationId: shop.id[`M-${n}`] });
let counted = 0;
const lines: Record<string, (n: number) => object> = {
  stockAdjust: (n) => ({ productId: shop.id.nail, place: bin(n), delta: 2 }),
  stockSet: (n) => ({ productId: shop.id.nail, place: bin(n), quantity: 200 + ++counted }),
  // From each bin to another that had none
  stockTransfer: (n) => ({
    productId: shop.id.nail,
    source: bin(n),
    destination: { binLocationId: shop.id["B-1"] },
    quantity: 1,
  }),
};
const inputOf = (name: string, count: number) => ({
  lines: Array.from({ length: count }, (_, index) => lines[name]!(index + 1)),
});
const documentOf = (name: string, selection = "stockMovements { id } stocks { id }") =>
  `mutation ($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) {
    ${name}(input: $input) { ${selection} userErrors { code } } }`;

async function call(query: string, variables: object, version: string) {
  const { body, text } = await shop.ask(token, { query, variables }, { version });
  assert.equal(body.errors, undefined, text);
  return { data: body.data, cost: body.extensions.cost.requested as number };
}

for (const { slug: version } of versions) {
  describe(`mutations of stock (${version})`, () => {
    for (const name of Object.keys(lines)) {
      it(`${name} is paid for by its lines`, async () => {
        const costs: Record<number, number> = {};
        for (const count of [1, 2, 10, 250]) {
          const { data, cost } = await call(documentOf(name), { input: inputOf(name, count) }, version);
          const { stockMovements, stocks, userErrors } = data[name];
          assert.deepEqual(userErrors, []);
          assert.equal(stockMovements.length, count);
          // The answer is within the estimate
          assert.ok(stockMovements.length + stocks.length <= count * 3);
          costs[count] = cost;
        }
        assert.deepEqual(costs, { 1: 13, 2: 13, 10: 16, 250: 112 });
      });
    }
  });

  it(`the same operation costs what its variables make of it, each time (${version})`, async () => {
    const query = documentOf("stockAdjust");
    for (const [count, expected] of [
      [1, 13],
      [250, 112],
      [1, 13],
    ] as const) {
      const { cost } = await call(query, { input: inputOf("stockAdjust", count) }, version);
      assert.equal(cost, expected);
    }
  });

  it(`lines in the document count as those in variables do (${version})`, async () => {
    const literal = `{ productId: "${shop.id.nail}", place: { binLocationId: "${shop.id["M-1"]}" }, delta: 1 }`;
    const selection = "stockMovements { id } stocks { id }";
    const costs = async (query: string, variables = {}) => (await call(query, variables, version)).cost;
    const of = (input: string) => `stockAdjust(input: { lines: ${input} }) { ${selection} }`;
    assert.equal(await costs(`mutation { ${of(`[${literal}]`)} }`), 13);
    assert.equal(await costs(`mutation { ${of(literal)} }`), 13, "one that is no list");
    const head = "mutation ($lines: [StockAdjustLineInput!]!)";
    assert.equal(await costs(`${head} { ${of("$lines")} }`, inputOf("stockAdjust", 10)), 16);
    const byDefault = `mutation ($lines: [StockAdjustLineInput!]! = [${literal}, ${literal}])`;
    assert.equal(await costs(`${byDefault} { ${of("$lines")} }`), 13);
  });

  it(`mutations of one operation pay for themselves, fragments in common or not (${version})`, async () => {
    const query = `mutation ($one: StockAdjustInput!, $many: StockAdjustInput!) {
      one: stockAdjust(input: $one) { ...Both } many: stockAdjust(input: $many) { ...Both } }
      fragment Both on StockAdjustPayload { ... { stockMovements { id } } stocks { id } }`;
    const variables = { one: inputOf("stockAdjust", 1), many: inputOf("stockAdjust", 250) };
    // 2 mutations, 4 lists, 251 lines with 3 rows each
    assert.equal((await call(query, variables, version)).cost, 20 + 4 + Math.ceil((251 * 4) / 10));
  });
}

describe("what other mutations answer", () => {
  /** Rows of all lists of a payload, for which the points beyond those of mutation and lists must pay. */
  async function assertPaidFor(name: string, input: object, lists: string[]): Promise<any> {
    const selection = [...lists.map((list) => `${list} { id }`), "__typename"].join(" ");
    const { data, cost } = await call(documentOf(name, selection), { input }, "unstable");
    assert.deepEqual(data[name].userErrors, []);
    const rows = lists.reduce((sum, list) => sum + data[name][list].length, 0);
    assert.ok(rows > 0, name);
    assert.ok(rows <= (cost - 10 - lists.length) * 10, `${name}: ${rows} rows for ${cost} points`);
    return data[name];
  }

  it("of a receipt with as many lines as there can be, put away in parts and partly disposed of", async () => {
    const input = {
      type: "Free",
      warehouseId: shop.id.hall,
      lineItems: Array.from({ length: 250 }, () => ({
        productId: shop.id.hammer,
        quantity: 3,
        unitPrice: 1,
        plannedDisposalQuantity: 1,
      })),
    };
    const made = await shop.mutate("goodsReceiptCreate", input, {
      select: "goodsReceipt { id lineItems(first: 250) { edges { node { id } } } }",
    });
    const { id, lineItems } = made.goodsReceipt;
    const lists = ["stockMovements", "stocks"];
    await assertPaidFor("goodsReceiptApprove", { id }, lists);
    const putAway = lineItems.edges.slice(0, 125).flatMap(({ node }: any, index: number) =>
      [1, 126].map((first) => ({
        goodsReceiptLineItemId: node.id,
        quantity: 1,
        place: bin(first + index),
      })),
    );
    const { stockMovements } = await assertPaidFor("goodsReceiptComplete", { id, putAway }, lists);
    assert.equal(stockMovements.length, 625);
  });

  it("of shipping, and of taking it back", async () => {
    for (const product of ["hammer", "nail"]) await shop.store(product, "A-1", 20);
    const lines = [0, 1].map((index) => [index, 4] as [number, number]);
    const products = [
      { product: "hammer", quantity: 4 },
      { product: "nail", quantity: 4 },
    ];
    const order = await shop.order(products, [{ location: "hall", lines }]);
    const lists = ["fulfillments", "fulfillmentOrders", "stockMovements"];
    const done = await assertPaidFor("orderShipmentComplete", { orderId: order.id }, lists);
    const back = { id: done.fulfillments[0].id };
    await assertPaidFor("fulfillmentCancel", back, ["fulfillmentOrders", "stockMovements"]);
  });
});
