import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { missingId, uuidOf } from "../lib/ids.ts";
import { assertRefused, useBench } from "./support.ts";

const bench = useBench();

const all = `productWarehouseConfiguration {
  id productId warehouseId defaultBinLocationId reorderPoint targetMaximumQuantity stockBelowReorderPoint
}`;

describe("productWarehouseConfigurationSet", () => {
  const inputOf = (change: object) => ({ productId: bench.product, warehouseId: bench.side, ...change });
  const set = (change: object = {}) => bench.mutate("productWarehouseConfigurationSet", inputOf(change), all);
  const belowOf = async (id: string) => {
    const query = `{ productWarehouseConfiguration(id: "${id}") { stockBelowReorderPoint } }`;
    const { body } = await bench.service.ask(bench.token, { query });
    return body.data.productWarehouseConfiguration.stockBelowReorderPoint;
  };

  it("makes settings where there were none: empty, with reorder point 0", async () => {
    const { productWarehouseConfiguration: made, userErrors } = await set();
    assert.deepEqual(userErrors, []);
    const { id, ...others } = made;
    assert.match(id, /^gid:\/\/service\/ProductWarehouseConfiguration\/[0-9a-f-]{36}$/);
    assert.deepEqual(others, {
      productId: bench.product,
      warehouseId: bench.side,
      defaultBinLocationId: null,
      reorderPoint: 0,
      targetMaximumQuantity: null,
      stockBelowReorderPoint: 0,
    });
  });

  it("counts at once what the warehouse and its bins hold", async () => {
    await bench.stock({ binLocationId: bench.bin }, 4);
    await bench.stock({ warehouseId: bench.side }, 3);
    await bench.stock({ warehouseId: bench.main }, 20);
    const { productWarehouseConfiguration: made } = await set({ reorderPoint: 10 });
    assert.equal(made.stockBelowReorderPoint, 3);
    const { productWarehouseConfiguration: other } = await set({ warehouseId: bench.main });
    assert.equal(other.stockBelowReorderPoint, -20);
  });

  it("follows the stock afterwards, of this warehouse only", async () => {
    const { id } = (await set({ reorderPoint: 5 })).productWarehouseConfiguration;
    for (const [place, delta, below] of [
      [{ warehouseId: bench.side }, 4, 1],
      [{ binLocationId: bench.bin }, 3, -2],
      [{ warehouseId: bench.side }, -4, 2],
      [{ warehouseId: bench.main }, 9, 2],
    ] as const) {
      await bench.stock(place, delta);
      assert.equal(await belowOf(id), below);
    }
    const [bin, side, main] = [
      { binLocationId: bench.bin },
      { warehouseId: bench.side },
      { warehouseId: bench.main },
    ];
    for (const [source, destination, below] of [
      [bin, side, 2],
      [side, main, 4],
    ] as const) {
      const lines = [{ productId: bench.product, quantity: 2, source, destination }];
      assert.deepEqual((await bench.mutate("stockTransfer", { lines })).userErrors, []);
      assert.equal(await belowOf(id), below);
    }
  });

  it("changes what is named, and nothing else", async () => {
    let expected = (await set({ reorderPoint: 5, targetMaximumQuantity: 50 })).productWarehouseConfiguration;
    for (const change of [
      {},
      { reorderPoint: 0 },
      { defaultBinLocationId: bench.bin },
      { reorderPoint: 2147483647, targetMaximumQuantity: 2147483647 },
      { targetMaximumQuantity: 0 },
      { targetMaximumQuantity: null },
      { defaultBinLocationId: null, reorderPoint: 7 },
    ]) {
      const { productWarehouseConfiguration: present, userErrors } = await set(change);
      assert.deepEqual(userErrors, []);
      expected = { ...expected, ...change };
      assert.deepEqual(present, { ...expected, stockBelowReorderPoint: expected.reorderPoint });
    }
    assert.equal((await bench.rows("select from erp.product_warehouse_configuration")).length, 1);
  });

  const refusals: [what: string, change: () => object, code: string, field: string][] = [
    ["an unknown product", () => ({ productId: missingId("Product") }), "NOT_FOUND", "productId"],
    ["an unknown warehouse", () => ({ warehouseId: missingId("Warehouse") }), "NOT_FOUND", "warehouseId"],
    ["a bin of another warehouse", () => ({ warehouseId: bench.main }), "INVALID", "defaultBinLocationId"],
    [
      "an unknown bin",
      () => ({ defaultBinLocationId: missingId("BinLocation") }),
      "INVALID",
      "defaultBinLocationId",
    ],
    ["a negative reorder point", () => ({ reorderPoint: -1 }), "OUT_OF_RANGE", "reorderPoint"],
    ["a negative target", () => ({ targetMaximumQuantity: -1 }), "OUT_OF_RANGE", "targetMaximumQuantity"],
    ["no reorder point", () => ({ reorderPoint: null }), "REQUIRED", "reorderPoint"],
  ];
  for (const [what, change, code, field] of refusals) {
    it(`refuses ${what}, where there were settings and where there were none: ${code}`, async () => {
      const input = () => ({ defaultBinLocationId: bench.bin, reorderPoint: 1, ...change() });
      assertRefused(await bench.unchanged(() => set(input())), code, [field]);
      await set({ targetMaximumQuantity: 9 });
      await set({ warehouseId: bench.main, targetMaximumQuantity: 9 });
      assertRefused(await bench.unchanged(() => set(input())), code, [field]);
    });
  }

  it("refuses ids of other types", async () => {
    for (const change of [
      { productId: bench.side },
      { warehouseId: bench.bin },
      { defaultBinLocationId: bench.side },
      { defaultBinLocationId: "B-1" },
      { productId: uuidOf(bench.product) },
    ]) {
      const answer = await bench.unchanged(() =>
        bench.send("productWarehouseConfigurationSet", inputOf(change)),
      );
      assert.deepEqual(answer.codes, ["BAD_USER_INPUT"]);
    }
  });

  it("can't set the stock", async () => {
    for (const change of [{ stock: 5 }, { stockBelowReorderPoint: 5 }]) {
      const answer = await bench.unchanged(() =>
        bench.send("productWarehouseConfigurationSet", inputOf(change)),
      );
      assert.deepEqual(answer.codes, ["BAD_USER_INPUT"]);
    }
  });
});
