import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";

let shop: Shop;
before(async () => {
  shop = await openShop();
});
after(() => shop.close());
beforeEach(() => shop.empty());
afterEach(() => assertLedgerIsRight(shop));

/** A place as input, by its short name. */
const at = (place: string) =>
  place.includes("-") ? { binLocationId: shop.id[place] } : { warehouseId: shop.id[place] };
const line: Shop["line"] = (...line) => shop.line(...line);
const move: Shop["move"] = (...line) => shop.move(...line);
const set = (...lines: object[]) => shop.mutate("stockSet", { lines });
const adjust = (...lines: object[]) => shop.mutate("stockAdjust", { lines });
const transfer = (...lines: object[]) => shop.mutate("stockTransfer", { lines });

async function figures(product: string) {
  const query = `{ product(id: "${shop.id[product]}") { physicalStock stockNotAvailableForSale availableStock } }`;
  const token = await shop.token();
  return (await shop.ask(token, { query })).body.data.product;
}
async function batchStock(batch: string): Promise<number> {
  const query = `{ batch(id: "${shop.id[batch]}") { physicalStock } }`;
  return (await shop.ask(await shop.token(), { query })).body.data.batch.physicalStock;
}

describe("stockAdjust", () => {
  it("books what comes in and goes out, and answers movements and stock in the order of the lines", async () => {
    const payload = await adjust(
      line("nail", "A-1", { delta: 7 }),
      line("hammer", "hall", { delta: 3 }),
      line("nail", "A-1", { delta: -2 }),
    );
    assert.deepEqual(payload.userErrors, []);
    assert.deepEqual(
      payload.stockMovements.map((movement: any) => [
        movement.product.productNumber,
        movement.quantity,
        movement.processTypeTechnicalName,
        movement.sourceSpecialStockLocationTechnicalName ?? movement.sourceBinLocationId,
        movement.destinationSpecialStockLocationTechnicalName ??
          movement.destinationBinLocationId ??
          movement.destinationWarehouseId,
      ]),
      [
        ["nail", 7, "api_incoming", "stock_correction", shop.id["A-1"]],
        ["hammer", 3, "api_incoming", "stock_correction", shop.id.hall],
        ["nail", 2, "api_outgoing", shop.id["A-1"], "stock_correction"],
      ],
    );
    assert.deepEqual(
      payload.stocks.map(({ quantity }: any) => quantity),
      [5, 3],
    );
  });

  it("keeps the figures of products and warehouses", async () => {
    await adjust(
      line("nail", "A-1", { delta: 7 }),
      line("nail", "hall", { delta: 2 }),
      line("nail", "R-1", { delta: 4 }),
    );
    assert.deepEqual(await figures("nail"), {
      physicalStock: 13,
      stockNotAvailableForSale: 4,
      availableStock: 9,
    });
    const query = `{ warehouseStocks(filter: { productId: { equals: "${shop.id.nail}" } }) { edges { node { quantity warehouse { code } } } } }`;
    const { body } = await shop.ask(await shop.token(), { query });
    assert.deepEqual(
      Object.fromEntries(
        body.data.warehouseStocks.edges.map(({ node }: any) => [node.warehouse.code, node.quantity]),
      ),
      { hall: 9, returns: 4 },
    );
  });

  it("books nothing at all when one place has not enough, and says of each line what is there", async () => {
    await adjust(line("nail", "A-1", { delta: 5 }));
    const payload = await adjust(
      line("hammer", "hall", { delta: 1 }),
      line("nail", "A-1", { delta: -6 }),
      line("nail", "A-2", { delta: -1 }),
    );
    assert.deepEqual(payload.stockMovements, []);
    assert.deepEqual(payload.stocks, []);
    assert.deepEqual(
      payload.userErrors.map(({ code, field, details }: any) => [code, field, details]),
      [
        ["INSUFFICIENT_STOCK", ["lines", "1", "delta"], { available: 5, requested: 6 }],
        ["INSUFFICIENT_STOCK", ["lines", "2", "delta"], { available: 0, requested: 1 }],
      ],
    );
    assert.equal(await shop.movements(), 1);
    assert.equal(await shop.stockAt("hammer", "hall"), 0);
  });

  it("looks at all lines together", async () => {
    await adjust(line("nail", "A-1", { delta: 5 }));
    const enough = await adjust(line("nail", "A-1", { delta: -8 }), line("nail", "A-1", { delta: 3 }));
    assert.deepEqual(enough.userErrors, []);
    const tooMuch = await adjust(
      ...Array.from({ length: 3 }, () => line("nail", "A-1", { delta: 1 })),
      line("nail", "A-1", { delta: -4 }),
    );
    assert.deepEqual(refusals(tooMuch), [["INSUFFICIENT_STOCK", "lines.3.delta"]]);
    assert.equal(await shop.stockAt("nail", "A-1"), 0);
  });

  it("refuses a change of 0", async () => {
    assert.deepEqual(refusals(await adjust(line("nail", "A-1", { delta: 0 }))), [
      ["OUT_OF_RANGE", "lines.0.delta"],
    ]);
  });

  it("refuses what would be more than can be counted", async () => {
    const most = 2_147_483_647;
    assert.deepEqual((await adjust(line("nail", "A-1", { delta: most }))).userErrors, []);
    assert.deepEqual(refusals(await adjust(line("nail", "A-1", { delta: 1 }))), [["OUT_OF_RANGE", null]]);
    assert.deepEqual(refusals(await adjust(line("nail", "A-2", { delta: 1 }))), [["OUT_OF_RANGE", null]]);
  });
});

describe("stockSet", () => {
  it("books the difference to what was counted, and nothing where it is right already", async () => {
    await adjust(
      line("nail", "A-1", { delta: 5 }),
      line("hammer", "A-1", { delta: 2 }),
      line("nail", "hall", { delta: 9 }),
    );
    const payload = await set(
      line("nail", "A-1", { quantity: 3 }),
      line("hammer", "A-1", { quantity: 2 }),
      line("nail", "hall", { quantity: 10 }),
    );
    assert.deepEqual(
      payload.stockMovements.map((movement: any) => [
        movement.quantity,
        movement.processTypeTechnicalName,
        movement.sourceLocationTypeTechnicalName,
        movement.destinationLocationTypeTechnicalName,
      ]),
      [
        [2, "api", "bin_location", "special_stock_location"],
        [1, "api", "special_stock_location", "warehouse"],
      ],
    );
    assert.deepEqual(
      payload.stocks.map(({ quantity }: any) => quantity),
      [3, 2, 10],
    );
  });

  it("refuses a negative quantity, and two lines for the same stock", async () => {
    const payload = await set(
      line("nail", "A-1", { quantity: -1 }),
      line("nail", "hall", { quantity: 1 }),
      line("nail", "hall", { quantity: 2 }),
    );
    assert.deepEqual(refusals(payload), [
      ["OUT_OF_RANGE", "lines.0.quantity"],
      ["NOT_UNIQUE", "lines.2"],
    ]);
  });
});

describe("stockTransfer", () => {
  it("moves between bins and warehouses, and keeps the sum", async () => {
    await adjust(line("nail", "A-1", { delta: 10 }));
    const payload = await transfer(
      move("nail", "A-1", "B-1", { quantity: 4 }),
      move("nail", "B-1", "shed", { quantity: 1 }),
      move("nail", "A-1", "returns", { quantity: 2 }),
    );
    assert.deepEqual(payload.userErrors, []);
    assert.ok(
      payload.stockMovements.every((movement: any) => movement.processTypeTechnicalName === "api_relocation"),
    );
    assert.deepEqual(
      await Promise.all(["A-1", "B-1", "shed", "returns"].map((place) => shop.stockAt("nail", place))),
      [4, 3, 1, 2],
    );
    assert.deepEqual(await figures("nail"), {
      physicalStock: 10,
      stockNotAvailableForSale: 2,
      availableStock: 8,
    });
  });

  it("refuses what is not there, less than one, and going nowhere", async () => {
    await adjust(line("nail", "A-1", { delta: 1 }));
    assert.deepEqual(refusals(await transfer(move("nail", "A-1", "A-2", { quantity: 2 }))), [
      ["INSUFFICIENT_STOCK", "lines.0.quantity"],
    ]);
    const payload = await transfer(
      move("nail", "A-1", "A-2", { quantity: 0 }),
      move("nail", "A-1", "A-1", { quantity: 1 }),
      move("nail", "hall", "hall", { quantity: 1 }),
    );
    assert.deepEqual(refusals(payload), [
      ["OUT_OF_RANGE", "lines.0.quantity"],
      ["INVALID", "lines.1.destination"],
      ["INVALID", "lines.2.destination"],
    ]);
  });
});

describe("batches", () => {
  it("must be named for products that are kept in batches", async () => {
    for (const payload of [
      await adjust(line("glue", "A-1", { delta: 1 })),
      await set(line("glue", "A-1", { quantity: 1 })),
    ])
      assert.deepEqual(refusals(payload), [["BATCH_REQUIRED", "lines.0.batchId"]]);
  });

  it("are counted, and kept apart, in each place", async () => {
    await adjust(
      line("glue", "A-1", { delta: 5, batchId: shop.id.G1 }),
      line("glue", "A-1", { delta: 3, batchId: shop.id.G2 }),
    );
    await transfer(move("glue", "A-1", "hall", { quantity: 2, batchId: shop.id.G1 }));
    const { stocks } = await set(line("glue", "A-1", { quantity: 1, batchId: shop.id.G2 }));
    assert.equal(stocks[0].quantity, 4);
    assert.deepEqual([await batchStock("G1"), await batchStock("G2")], [5, 1]);
    const payload = await transfer(move("glue", "A-1", "A-2", { quantity: 4, batchId: shop.id.G1 }));
    assert.deepEqual(
      payload.userErrors.map(({ code, details }: any) => [code, details]),
      [["INSUFFICIENT_STOCK", { available: 3, requested: 4 }]],
    );
  });

  it("must be of the product, and exist", async () => {
    const unknown = shop.id.G1!.replace(/.{12}$/, "000000000000");
    const payload = await adjust(
      line("glue", "A-1", { delta: 1, batchId: shop.id.N1 }),
      line("glue", "A-1", { delta: 1, batchId: unknown }),
    );
    assert.deepEqual(refusals(payload), [
      ["BATCH_MISMATCH", "lines.0.batchId"],
      ["NOT_FOUND", "lines.1.batchId"],
    ]);
  });

  it("are not eaten into by lines that name none", async () => {
    await adjust(line("nail", "A-1", { delta: 2 }), line("nail", "A-1", { delta: 3, batchId: shop.id.N1 }));
    assert.deepEqual((await adjust(line("nail", "A-1", { delta: -2 }))).userErrors, []);
    assert.deepEqual(refusals(await adjust(line("nail", "A-1", { delta: -1 }))), [
      ["BATCH_REQUIRED", "lines.0.batchId"],
    ]);
    assert.equal(await batchStock("N1"), 3);
  });
});

describe("what all lines have in common", () => {
  it("expectedQuantity refuses when someone was faster", async () => {
    await adjust(line("nail", "A-1", { delta: 5 }), line("glue", "A-1", { delta: 4, batchId: shop.id.G1 }));
    for (const payload of [
      await set(line("nail", "A-1", { quantity: 1, expectedQuantity: 4 })),
      await adjust(line("nail", "A-1", { delta: 1, expectedQuantity: 4 })),
      await transfer(move("nail", "A-1", "A-2", { quantity: 1, expectedQuantity: 4 })),
    ]) {
      assert.deepEqual(refusals(payload), [["QUANTITY_CHANGED", "lines.0.expectedQuantity"]]);
      assert.deepEqual(payload.userErrors[0].details, { expected: 4, actual: 5 });
    }
    const { userErrors } = await adjust(
      line("nail", "A-1", { delta: 1, expectedQuantity: 5 }),
      line("nail", "A-2", { delta: 1, expectedQuantity: 0 }),
      line("glue", "A-1", { delta: 1, expectedQuantity: 4, batchId: shop.id.G1 }),
    );
    assert.deepEqual(userErrors, []);
  });

  it("names a warehouse or a bin", async () => {
    const both = { ...at("hall"), ...at("A-1") };
    const lines = [{}, both, { warehouseId: null }].map((place) => ({
      productId: shop.id.nail,
      place,
      delta: 1,
    }));
    assert.deepEqual(refusals(await adjust(...lines)), [
      ["INVALID", "lines.0.place"],
      ["INVALID", "lines.1.place"],
      ["INVALID", "lines.2.place"],
    ]);
  });

  it("says which ids lead nowhere", async () => {
    const gone = (name: string) => shop.id[name]!.replace(/.{12}$/, "000000000000");
    const payload = await transfer(
      { productId: gone("nail"), source: at("A-1"), destination: { warehouseId: gone("hall") }, quantity: 1 },
      {
        productId: shop.id.nail,
        source: { binLocationId: gone("A-1") },
        destination: at("A-1"),
        quantity: 1,
      },
    );
    assert.deepEqual(refusals(payload), [
      ["NOT_FOUND", "lines.0.productId"],
      ["NOT_FOUND", "lines.0.destination.warehouseId"],
      ["NOT_FOUND", "lines.1.source.binLocationId"],
    ]);
  });

  it("are 1 to 250", async () => {
    const lines = (count: number) => Array.from({ length: count }, () => line("nail", "A-1", { delta: 1 }));
    assert.deepEqual(refusals(await adjust()), [["REQUIRED", "lines"]]);
    assert.deepEqual(refusals(await adjust(...lines(251))), [["TOO_MANY_LINES", "lines"]]);
    const { stockMovements, stocks } = await adjust(...lines(250));
    assert.equal(stockMovements.length, 250);
    assert.deepEqual(
      stocks.map(({ quantity }: any) => quantity),
      [250],
    );
  });

  it("comment is kept with the movements, and shown by unstable", async () => {
    const lines = [line("nail", "A-1", { delta: 1 })];
    const select = "stockMovements { comment }";
    const { stockMovements } = await shop.mutate(
      "stockAdjust",
      { lines, comment: "Found behind the shelf" },
      { select },
    );
    assert.deepEqual(stockMovements, [{ comment: "Found behind the shelf" }]);
    assert.deepEqual(refusals(await shop.mutate("stockAdjust", { lines, comment: "x".repeat(1001) })), [
      ["OUT_OF_RANGE", "comment"],
    ]);
  });
});
