import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { missingId, uuidOf } from "../lib/ids.ts";
import { assertRefused, useBench } from "./support.ts";

const bench = useBench();

const all = "binLocation { id code position warehouseId warehouse { code } updatedAt }";

/** Input that neither creating nor updating accepts. */
const mistakes: [input: object, code: string, field: string][] = [
  [{ code: "B-2" }, "NOT_UNIQUE", "code"],
  [{ code: "" }, "INVALID", "code"],
  [{ code: "  " }, "INVALID", "code"],
  [{ code: "ä".repeat(101) }, "OUT_OF_RANGE", "code"],
];

const secondBin = () => bench.mutate("binLocationCreate", { warehouseId: bench.side, code: "B-2" });

describe("binLocationCreate", () => {
  const create = (input: object) =>
    bench.mutate("binLocationCreate", { warehouseId: bench.side, code: "N", ...input }, all);

  it("makes a bin of a warehouse and a code, or with a position", async () => {
    for (const input of [
      { code: "N" },
      { code: "ä".repeat(100), position: -2147483648 },
      { code: " N ", position: 2147483647 },
      { code: "n", position: null },
    ]) {
      const { binLocation, userErrors } = await create(input);
      assert.deepEqual(userErrors, []);
      const { id, ...others } = binLocation;
      assert.match(id, /^gid:\/\/service\/BinLocation\/[0-9a-f-]{36}$/);
      const place = { warehouseId: bench.side, warehouse: { code: "SIDE" } };
      assert.deepEqual(others, { position: null, ...input, ...place, updatedAt: null });
    }
  });

  it("takes a code that another warehouse has a bin of", async () => {
    assert.deepEqual((await create({ warehouseId: bench.main, code: "B-1" })).userErrors, []);
  });

  for (const [change, code, field] of [
    ...mistakes,
    [{ warehouseId: missingId("Warehouse") }, "NOT_FOUND", "warehouseId"] as const,
  ]) {
    it(`refuses ${JSON.stringify(change).slice(0, 40)}: ${code}`, async () => {
      await secondBin();
      assertRefused(await bench.unchanged(() => create(change)), code, [field]);
    });
  }

  it("refuses what is no id of a warehouse, and positions that are too large", async () => {
    for (const warehouseId of [bench.bin, "x", uuidOf(bench.side)]) {
      const answer = await bench.unchanged(() => bench.send("binLocationCreate", { warehouseId, code: "N" }));
      assert.deepEqual(answer.codes, ["BAD_USER_INPUT"]);
    }
    const input = { warehouseId: bench.side, code: "N", position: 2147483648 };
    assert.deepEqual((await bench.send("binLocationCreate", input)).codes, ["BAD_USER_INPUT"]);
  });
});

describe("binLocationUpdate", () => {
  const update = (input: object) => bench.mutate("binLocationUpdate", { id: bench.bin, ...input }, all);

  it("changes what is named, and nothing else; null takes it off the route", async () => {
    let expected = { code: "B-1", position: 10 } as object;
    for (const change of [
      {},
      { code: "B-1" },
      { code: "C-1" },
      { position: 0 },
      { code: "C-2", position: null },
    ]) {
      const { binLocation, userErrors } = await update(change);
      assert.deepEqual(userErrors, []);
      const { id, warehouseId, warehouse, updatedAt, ...others } = binLocation;
      assert.deepEqual(others, (expected = { ...expected, ...change }));
      assert.deepEqual([id, warehouseId, warehouse.code], [bench.bin, bench.side, "SIDE"]);
      assert.notEqual(updatedAt, null);
    }
  });

  it("leaves the stock in the bin where it is", async () => {
    await bench.stock({ binLocationId: bench.bin }, 4);
    await update({ code: "C-1" });
    const stock = await bench.rows("select quantity from ledger.stock where bin_location_id is not null");
    assert.deepEqual(stock, [{ quantity: 4 }]);
  });

  for (const [change, code, field] of [
    ...mistakes,
    [{ code: null }, "REQUIRED", "code"] as const,
    [{ id: missingId("BinLocation") }, "NOT_FOUND", "id"] as const,
  ]) {
    it(`refuses ${JSON.stringify(change).slice(0, 40)}: ${code}`, async () => {
      await secondBin();
      assertRefused(await bench.unchanged(() => update({ position: 5, ...change })), code, [field]);
    });
  }

  it("refuses what is no id of a bin, and another warehouse", async () => {
    for (const id of [bench.side, bench.product, "", uuidOf(bench.bin)]) {
      const answer = await bench.unchanged(() => bench.send("binLocationUpdate", { id, position: 1 }));
      assert.deepEqual(answer.codes, ["BAD_USER_INPUT"]);
    }
    const moved = { id: bench.bin, warehouseId: bench.main };
    const answer = await bench.unchanged(() => bench.send("binLocationUpdate", moved));
    assert.deepEqual(answer.codes, ["BAD_USER_INPUT"]);
  });
});

describe("binLocationDelete", () => {
  const remove = (id = bench.bin) => bench.mutate("binLocationDelete", { id }, "deletedBinLocationId");

  it("deletes an empty bin; settings that named it name none", async () => {
    const input = { productId: bench.product, warehouseId: bench.side, defaultBinLocationId: bench.bin };
    await bench.mutate("productWarehouseConfigurationSet", { ...input, reorderPoint: 3 });
    await bench.rows(
      "insert into erp.product_stock_location_configuration (product_id, bin_location_id) values ($1, $2)",
      [uuidOf(bench.product), uuidOf(bench.bin)],
    );
    assert.deepEqual(await remove(), { deletedBinLocationId: bench.bin, userErrors: [] });
    assert.deepEqual(
      await bench.rows(
        "select default_bin_location_id as bin, reorder_point from erp.product_warehouse_configuration",
      ),
      [{ bin: null, reorder_point: 3 }],
    );
    assert.deepEqual(await bench.rows("select from erp.product_stock_location_configuration"), []);
    assertRefused(await remove(), "NOT_FOUND", ["id"]);
  });

  it("keeps one that holds stock, and says how much", async () => {
    await bench.stock({ binLocationId: bench.bin }, 4);
    await bench.stock({ warehouseId: bench.side }, 3);
    const payload = await bench.unchanged(() => remove());
    assert.deepEqual(assertRefused(payload, "WAREHOUSE_NOT_EMPTY", null), { quantity: 4 });
    await bench.stock({ binLocationId: bench.bin }, -4);
    assert.deepEqual((await remove()).userErrors, []);
  });

  it("keeps the movements that passed through it, without its id", async () => {
    const line = { productId: bench.product, quantity: 2, destination: { warehouseId: bench.main } };
    await bench.stock({ binLocationId: bench.bin }, 2);
    await bench.mutate("stockTransfer", { lines: [{ ...line, source: { binLocationId: bench.bin } }] });
    await remove();
    const query = `{ stockMovements { edges { node { sourceBinLocation { id } sourceBinLocationId sourceLocationTypeTechnicalName
      destinationWarehouseId destinationBinLocationId destinationLocationTypeTechnicalName } } } }`;
    const { body } = await bench.service.ask(bench.token, { query });
    const [came, went] = body.data.stockMovements.edges.map(({ node }: any) => node);
    assert.deepEqual(
      [came.destinationLocationTypeTechnicalName, came.destinationBinLocationId],
      ["bin_location", null],
    );
    assert.deepEqual(went, {
      ...{
        sourceLocationTypeTechnicalName: "bin_location",
        sourceBinLocationId: null,
        sourceBinLocation: null,
      },
      destinationLocationTypeTechnicalName: "warehouse",
      destinationWarehouseId: bench.main,
      destinationBinLocationId: null,
    });
  });

  it("leaves goods receipts that were to be put there", async () => {
    await bench.rows(
      `with r as (insert into erp.goods_receipt (number, state, warehouse_id) values ('G', 'approved', $1) returning id)
       insert into erp.goods_receipt_line_item (goods_receipt_id, quantity, destination_bin_location_id) select id, 1, $2 from r`,
      [uuidOf(bench.side), uuidOf(bench.bin)],
    );
    assert.deepEqual((await remove()).userErrors, []);
    const lines = await bench.rows(
      "select destination_bin_location_id as bin from erp.goods_receipt_line_item",
    );
    assert.deepEqual(lines, [{ bin: null }]);
  });

  it("refuses what is no id of a bin", async () => {
    for (const id of [bench.side, "gid://service/BinLocation/x"])
      assert.deepEqual((await bench.send("binLocationDelete", { id })).codes, ["BAD_USER_INPUT"]);
  });
});
