import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { missingId } from "../lib/ids.ts";
import { refusals } from "../lib/shop.ts";
import { useBench } from "./support.ts";

const bench = useBench({ poolSize: 20 });

const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join(" ");
const results = "results { outcome id userErrors { code field } }";

describe("productWarehouseConfigurationsUpsert", () => {
  const list = "productWarehouseConfigurations";
  const fields =
    "id productId warehouseId defaultBinLocationId reorderPoint targetMaximumQuantity safetyStock stockBelowReorderPoint";
  const upsert = (rows: object[], more = {}) =>
    bench.mutate(`${list}Upsert`, { [list]: rows, ...more }, `${results} ${list} { ${fields} }`);
  const named = { productNumber: "P-1", warehouseCode: "SIDE" };
  const full = { defaultBinLocationCode: "B-1", reorderPoint: 5, targetMaximumQuantity: 20, safetyStock: 2 };

  it("sets many at once, by numbers and codes, and counts the stock that is there", async () => {
    await bench.stock({ binLocationId: bench.bin }, 3);
    const made = await upsert([
      { ...named, ...full },
      { productId: bench.product, warehouseId: bench.main },
    ]);
    assert.deepEqual(made.userErrors, []);
    assert.equal(outcomes(made), "CREATED CREATED");
    const [{ id, ...side }, main] = made[list];
    const expected = { productId: bench.product, warehouseId: bench.side, defaultBinLocationId: bench.bin };
    assert.deepEqual(side, {
      ...expected,
      ...{ reorderPoint: 5, targetMaximumQuantity: 20, safetyStock: 2, stockBelowReorderPoint: 2 },
    });
    assert.deepEqual(main, {
      ...{ ...expected, id: main.id },
      ...{
        warehouseId: bench.main,
        defaultBinLocationId: null,
        reorderPoint: 0,
        targetMaximumQuantity: null,
      },
      ...{ safetyStock: 0, stockBelowReorderPoint: 0 },
    });
    assert.equal(outcomes(await upsert([{ ...named, ...full }])), "UNCHANGED");
    const changed = await upsert([{ id, reorderPoint: 9, defaultBinLocationId: null }]);
    assert.equal(changed[list][0].stockBelowReorderPoint, 6);
    assert.equal(changed[list][0].defaultBinLocationId, null);
    assert.equal(outcomes(await upsert([{ id, defaultBinLocationCode: "B-1" }])), "UPDATED");
  });

  it("follows the stock afterwards, and keeps the safety stock back", async () => {
    await upsert([{ ...named, ...full }]);
    await bench.stock({ binLocationId: bench.bin }, 6);
    const again = await upsert([named]);
    assert.equal(again[list][0].stockBelowReorderPoint, -1);
    const [product] = await bench.rows("select safety_stock from erp.product");
    assert.deepEqual(product, { safety_stock: 2 });
  });

  const mistakes: [what: string, change: () => object, code: string, field: string][] = [
    ["an unknown number", () => ({ productNumber: "none" }), "NOT_FOUND", "productNumber"],
    [
      "an unknown product",
      () => ({ productId: missingId("Product"), productNumber: undefined }),
      "NOT_FOUND",
      "productId",
    ],
    ["an unknown warehouse", () => ({ warehouseCode: "none" }), "NOT_FOUND", "warehouseCode"],
    ["no warehouse", () => ({ warehouseCode: undefined }), "REQUIRED", "warehouseId"],
    [
      "a bin of another warehouse",
      () => ({ warehouseCode: "MAIN", defaultBinLocationId: bench.bin }),
      "INVALID",
      "defaultBinLocationId",
    ],
    ["an unknown bin", () => ({ defaultBinLocationCode: "B-2" }), "NOT_FOUND", "defaultBinLocationCode"],
    ["a negative reorder point", () => ({ reorderPoint: -1 }), "OUT_OF_RANGE", "reorderPoint"],
    ["a negative target", () => ({ targetMaximumQuantity: -1 }), "OUT_OF_RANGE", "targetMaximumQuantity"],
    ["too much safety stock", () => ({ safetyStock: 10_000_001 }), "OUT_OF_RANGE", "safetyStock"],
  ];
  for (const [what, change, code, field] of mistakes)
    it(`refuses ${what}: ${code}`, async () => {
      const refused = await bench.unchanged(() => upsert([{ ...named, ...change() }]));
      assert.deepEqual(refusals(refused), [[code, `${list}.0.${field}`]]);
    });

  it("refuses another product or warehouse for one that is there", async () => {
    const { [list]: made } = await upsert([named]);
    const refused = await upsert([{ id: made[0].id, warehouseCode: "MAIN" }]);
    assert.deepEqual(refusals(refused), [["NOT_EDITABLE", `${list}.0.warehouseCode`]]);
  });
});

describe("productStockLocationConfigurationsUpsert", () => {
  const list = "productStockLocationConfigurations";
  const fields =
    "id reorderPoint targetMaximumQuantity stockBelowReorderPoint warehouse { code } binLocation { code } product { productNumber }";
  const upsert = (rows: object[], more = {}) =>
    bench.mutate(`${list}Upsert`, { [list]: rows, ...more }, `${results} ${list} { ${fields} }`);
  const bin = { productNumber: "P-1", warehouseCode: "SIDE", binLocationCode: "B-1" };
  const side = { productNumber: "P-1", warehouseCode: "SIDE" };

  it("sets bins and parts of warehouses without bins, each with its own stock", async () => {
    await bench.stock({ binLocationId: bench.bin }, 3);
    await bench.stock({ warehouseId: bench.side }, 4);
    const made = await upsert([
      { ...bin, reorderPoint: 5, targetMaximumQuantity: 9 },
      { ...side, reorderPoint: 5 },
    ]);
    assert.deepEqual(made.userErrors, []);
    assert.equal(outcomes(made), "CREATED CREATED");
    const [{ id, ...atBin }, atSide] = made[list];
    const product = { productNumber: "P-1" };
    assert.deepEqual(atBin, {
      ...{ reorderPoint: 5, targetMaximumQuantity: 9, stockBelowReorderPoint: 2, product },
      ...{ warehouse: null, binLocation: { code: "B-1" } },
    });
    assert.deepEqual(atSide, {
      id: atSide.id,
      ...{ reorderPoint: 5, targetMaximumQuantity: null, stockBelowReorderPoint: 1, product },
      ...{ warehouse: { code: "SIDE" }, binLocation: null },
    });
    const again = [
      { productId: bench.product, binLocationId: bench.bin, reorderPoint: 5 },
      { productId: bench.product, warehouseId: bench.side, reorderPoint: 6 },
    ];
    assert.equal(outcomes(await upsert(again)), "UNCHANGED UPDATED");
    await bench.stock({ binLocationId: bench.bin }, 10);
    assert.equal((await upsert([{ id }]))[list][0].stockBelowReorderPoint, -8);
  });

  const mistakes: [what: string, row: () => object, code: string, field: string][] = [
    ["no place", () => ({ productNumber: "P-1" }), "INVALID", "warehouseId"],
    [
      "two places",
      () => ({ productNumber: "P-1", warehouseId: bench.side, binLocationId: bench.bin }),
      "INVALID",
      "warehouseId",
    ],
    ["no product", () => ({ warehouseCode: "SIDE" }), "REQUIRED", "productId"],
    ["an unknown bin", () => ({ ...bin, binLocationCode: "B-2" }), "NOT_FOUND", "binLocationCode"],
    ["a bin of another warehouse", () => ({ ...bin, warehouseCode: "MAIN" }), "NOT_FOUND", "binLocationCode"],
    [
      "a code and the id of another bin",
      () => ({ ...bin, binLocationId: missingId("BinLocation") }),
      "INVALID",
      "binLocationCode",
    ],
    [
      "a bin that is not there",
      () => ({ productNumber: "P-1", binLocationId: missingId("BinLocation") }),
      "NOT_FOUND",
      "binLocationId",
    ],
    ["a negative reorder point", () => ({ ...bin, reorderPoint: -1 }), "OUT_OF_RANGE", "reorderPoint"],
    [
      "a negative target",
      () => ({ ...side, targetMaximumQuantity: -1 }),
      "OUT_OF_RANGE",
      "targetMaximumQuantity",
    ],
  ];
  for (const [what, row, code, field] of mistakes)
    it(`refuses ${what}: ${code}`, async () => {
      const refused = await bench.unchanged(() => upsert([row()]));
      assert.deepEqual(refusals(refused), [[code, `${list}.0.${field}`]]);
    });

  it("refuses another place for one that is there, and the same place twice", async () => {
    const { [list]: made } = await upsert([bin]);
    const moved = await upsert([{ id: made[0].id, binLocationId: null, warehouseId: bench.side }], {
      partial: true,
    });
    assert.equal(outcomes(moved), "REFUSED");
    assert.deepEqual(moved.results[0].userErrors[0].code, "NOT_EDITABLE");
    assert.equal(outcomes(await upsert([side, side], { partial: true })), "CREATED REFUSED");
  });
});

describe("configurations", () => {
  it("count all that is booked while they are made and changed", async () => {
    const row = { productNumber: "P-1", warehouseCode: "SIDE" };
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        n % 2 === 0
          ? bench.stock({ binLocationId: bench.bin }, 1)
          : bench.mutate(
              n % 4 === 1
                ? "productWarehouseConfigurationsUpsert"
                : "productStockLocationConfigurationsUpsert",
              n % 4 === 1
                ? { productWarehouseConfigurations: [{ ...row, reorderPoint: n }] }
                : {
                    productStockLocationConfigurations: [{ ...row, binLocationCode: "B-1", reorderPoint: n }],
                  },
            ),
      ),
    );
    const rows = await bench.rows(
      "select stock from erp.product_warehouse_configuration union all select stock from erp.product_stock_location_configuration",
    );
    assert.deepEqual(rows, [{ stock: 10 }, { stock: 10 }]);
  });
});
