import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { defaultLimits } from "../../src/graphql/limits.ts";
import type { Shop } from "../lib/shop.ts";
import { openShop } from "../lib/shop.ts";

// What functions calculate is paid for by what is asked, before anything is read
describe("the price of functions", () => {
  let shop: Shop;
  let token: string;
  before(async () => {
    const limits = { ...defaultLimits, bucket: 1_000_000, refill: 1_000_000 };
    shop = await openShop({ settings: { limits } });
    token = await shop.token({ read: ["products", "stocks", "orders", "fulfillment_orders", "valuation"] });
  });
  after(() => shop.close());

  const card = 'stockCardLines(first: 10, since: "2026-01-01T00:00:00Z") { edges { node { quantity } } }';
  const ofRows = (list: string, first: number, fields: string) =>
    `{ ${list}(first: ${first}) { edges { node { ${fields} } } } }`;
  const ask = async (query: string, variables = {}) => {
    const { codes, body } = await shop.ask(token, { query, variables });
    return { codes, cost: body.extensions?.cost?.requested };
  };

  for (const [query, cost] of [
    ["{ stockValuation { value } }", 200],
    [ofRows("products", 10, "productNumber"), 2],
    [ofRows("products", 10, "stockValue { value }"), 102],
    [ofRows("products", 10, "a: stockValue { value } b: stockValue(method: fifo) { value }"), 202],
    [ofRows("products", 10, 'stockCard(since: "2026-01-01T00:00:00Z") { incoming }'), 102],
    [ofRows("products", 10, card), 113],
    [ofRows("orders", 10, "costOfGoods margin"), 202],
    [ofRows("fulfillments", 10, "costOfGoods"), 102],
  ] as const)
    it(`is part of the cost of ${query}`, async () => {
      assert.deepEqual(await ask(query), { codes: [], cost });
    });

  const all = Array.from({ length: 11 }, (_, n) => `v${n}: stockValuation { value }`).join(" ");
  for (const query of [
    `{ ${all} }`,
    ofRows("products", 250, "stockValue { value }"),
    ofRows("products", 250, card),
    ofRows("orders", 250, "costOfGoods"),
    ofRows("orders", 150, "margin costOfGoods"),
    ofRows("fulfillments", 250, "costOfGoods"),
  ])
    it(`refuses ${query.slice(0, 90)}`, async () => {
      assert.deepEqual((await ask(query)).codes, ["QUERY_TOO_COMPLEX"]);
    });

  it("follows a page whose size is a variable", async () => {
    const query = "query ($n: Int!) { products(first: $n) { edges { node { stockValue { value } } } } }";
    assert.deepEqual((await ask(query, { n: 250 })).codes, ["QUERY_TOO_COMPLEX"]);
    assert.deepEqual(await ask(query, { n: 20 }), { codes: [], cost: 203 });
  });
});
