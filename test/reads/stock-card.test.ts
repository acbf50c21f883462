import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import type { PastOfShop } from "../lib/past.ts";
import { pastOf } from "../lib/past.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

let shop: ShippingShop;
let past: PastOfShop;
beforeEach(async () => {
  await shop?.close();
  shop = await openShippingShop();
  past = pastOf(shop);
});
after(() => shop.close());

interface CardOptions {
  product?: string;
  since: string;
  until?: string;
  warehouse?: string;
  bin?: string;
  batch?: string;
  token?: string;
}

/** Asks for a stock card: its balances, and a page of its lines. */
async function askForCard({ product = "hammer", token, ...options }: CardOptions, page = "first: 250") {
  const { since, until, warehouse, bin, batch } = options;
  const variables = {
    id: shop.id[product],
    since,
    until,
    warehouse: warehouse && shop.id[warehouse],
    bin: bin && shop.id[bin],
    batch: batch && shop.id[batch],
  };
  const given = "since: $since, until: $until, warehouseId: $warehouse, binLocationId: $bin, batchId: $batch";
  const query = `query ($id: ID!, $since: DateTime!, $until: DateTime, $warehouse: ID, $bin: ID, $batch: ID) {
    product(id: $id) {
      stockCard(${given}) { openingBalance incoming outgoing closingBalance }
      stockCardLines(${given}, ${page}) { pageInfo { hasNextPage endCursor } edges { cursor node {
        quantity balance happenedAt bookedAt formerPlace warehouseId binLocation { code } warehouse { code }
        stockMovement { id processTypeTechnicalName comment } } } } } }`;
  return shop.ask(token ?? (await shop.token()), { query, variables });
}

async function readCard(options: CardOptions, page?: string) {
  const { body, text } = await askForCard(options, page);
  assert.equal(body.errors, undefined, text);
  const { stockCard, stockCardLines } = body.data.product;
  const nodes = stockCardLines.edges.map(({ node }: any) => node);
  return {
    card: Object.values(stockCard),
    nodes,
    lines: nodes.map(({ quantity, balance }: any) => [quantity, balance]),
    pageInfo: stockCardLines.pageInfo,
  };
}

describe("a stock card", () => {
  it("has the balance before its period, each movement with the balance after it, and sums", async () => {
    await past.adjust("hammer", "A-1", 5);
    const since = await past.now();
    await past.adjust("hammer", "A-1", 10);
    const counted = await past.now();
    await past.adjust("hammer", "A-1", -3);
    const until = await past.now();
    await past.adjust("hammer", "A-2", 7);
    // It belongs between the second and the third, though it comes last
    await past.count("hammer", "A-1", 16, counted);
    for (const closings of [0, 4]) {
      const inPeriod = await readCard({ since, until });
      assert.deepEqual(inPeriod.card, [5, 11, 3, 13]);
      assert.deepEqual(inPeriod.lines, [
        [10, 15],
        [1, 16],
        [-3, 13],
      ]);
      assert.deepEqual(
        inPeriod.nodes.map(({ stockMovement }: any) => stockMovement.processTypeTechnicalName),
        ["api_incoming", "api", "api_outgoing"],
      );
      const [, count] = inPeriod.nodes;
      assert.ok(count.bookedAt >= count.happenedAt);
      assert.deepEqual([count.binLocation.code, count.warehouse.code], ["A-1", "hall"]);
      const open = await readCard({ since });
      assert.deepEqual(open.card, [5, 18, 3, 20]);
      assert.deepEqual(open.lines.at(-1), [7, 20]);
      assert.deepEqual((await readCard({ since: until, bin: "A-2" })).lines, [[7, 7]]);
      if (closings === 0) {
        await past.number();
        await past.close(1);
      }
    }
  });

  it("of a warehouse has moves within it twice, and of all warehouses what leaves one for another", async () => {
    const since = await past.now();
    await past.adjust("nail", "A-1", 9);
    await past.move("nail", "A-1", "A-2", 4);
    await past.move("nail", "A-2", "B-1", 1);
    assert.deepEqual((await readCard({ product: "nail", since, warehouse: "hall" })).lines, [
      [9, 9],
      [-4, 5],
      [4, 9],
      [-1, 8],
    ]);
    assert.deepEqual((await readCard({ product: "nail", since, warehouse: "shed" })).card, [0, 1, 0, 1]);
    assert.deepEqual((await readCard({ product: "nail", since })).card, [0, 14, 5, 9]);
    assert.deepEqual((await readCard({ product: "nail", since, bin: "A-2" })).lines, [
      [4, 4],
      [-1, 3],
    ]);
  });

  it("of a batch has its units only, and is closed without its scope", async () => {
    const since = await past.now();
    await past.adjust("glue", "A-1", 4, "G1");
    await past.adjust("glue", "A-1", 2, "G2");
    await past.move("glue", "A-1", "B-1", 1, "G1");
    const later = await past.now();
    await past.adjust("glue", "A-1", -2, "G1");
    assert.deepEqual((await readCard({ product: "glue", since, batch: "G1", warehouse: "hall" })).lines, [
      [4, 4],
      [-1, 3],
      [-2, 1],
    ]);
    const rest = await readCard({ product: "glue", since: later, batch: "G1", warehouse: "hall" });
    assert.deepEqual([rest.card, rest.lines], [[3, 0, 2, 1], [[-2, 1]]]);
    assert.deepEqual((await readCard({ product: "nail", since: later, batch: "G1" })).card, [0, 0, 0, 0]);
    const token = await shop.token({ read: ["products", "stocks", "warehouses"] });
    const { body } = await askForCard({ product: "glue", since, batch: "G1", token });
    assert.deepEqual(body.data.product.stockCard, null);
    assert.deepEqual(body.data.product.stockCardLines.edges, []);
  });

  it("keeps the code of a bin that was deleted, and the warehouse where it stood", async () => {
    const since = await past.now();
    await past.adjust("hammer", "A-1", 2);
    await past.adjust("hammer", "A-1", -2);
    await shop.sql("delete from erp.bin_location where id = $1", shop.id["A-1"]!);
    const { nodes, lines } = await readCard({ since, warehouse: "hall" });
    assert.deepEqual(lines, [
      [2, 2],
      [-2, 0],
    ]);
    for (const { formerPlace, binLocation, warehouse } of nodes)
      assert.deepEqual([formerPlace, binLocation, warehouse.code], ["A-1", null, "hall"]);
  });

  it("is read in pages while bookings go on: nothing twice, nothing left out", async () => {
    const since = await past.now();
    for (const delta of [1, 2, 3, 4, 5]) await past.adjust("hammer", "A-1", delta);
    const found: number[][] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 20; page++) {
      const { lines, pageInfo } = await readCard(
        { since },
        `first: 2${cursor ? `, after: "${cursor}"` : ""}`,
      );
      found.push(...lines);
      // More comes in than is read, at first
      if (page < 3) for (const delta of [10, 20, 30]) await past.adjust("hammer", "A-1", delta);
      if (!pageInfo.hasNextPage && page > 3) break;
      cursor = pageInfo.endCursor ?? cursor;
    }
    assert.deepEqual(
      found.map(([quantity]) => quantity),
      [1, 2, 3, 4, 5, ...[1, 2, 3].flatMap(() => [10, 20, 30])],
    );
    assert.deepEqual(found.at(-1), [30, 195]);
    const { lines } = await readCard({ since }, "last: 1");
    assert.deepEqual(lines, [[30, 195]]);
  });

  it("refuses a period that begins in the future", async () => {
    assert.deepEqual((await askForCard({ since: "2999-01-01T00:00:00Z" })).codes, [
      "AS_OF_TOO_LATE",
      "AS_OF_TOO_LATE",
    ]);
  });
});
