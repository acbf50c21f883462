import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { missingId, uuidOf } from "../lib/ids.ts";
import { assertRefused, useBench } from "./support.ts";

const bench = useBench();

const all = `warehouse {
  id code name isDefault isDefaultReceiving isStockAvailableForSale address location { name active storefrontId }
}`;

/** Codes of the default warehouse, and of the default for receiving. */
const defaults = async () => {
  const [row] = await bench.rows(
    `select array_agg(code) filter (where is_default) as is_default,
       array_agg(code) filter (where is_default_receiving) as is_receiving from erp.warehouse`,
  );
  return [...row!.is_default, "/", ...row!.is_receiving].join(" ");
};

/** Texts and addresses that neither creating nor updating accepts. */
const mistakes: [input: object, code: string, field: string][] = [
  [{ code: "MAIN" }, "NOT_UNIQUE", "code"],
  [{ code: "" }, "INVALID", "code"],
  [{ code: "   " }, "INVALID", "code"],
  [{ code: "ä".repeat(101) }, "OUT_OF_RANGE", "code"],
  [{ name: " " }, "INVALID", "name"],
  [{ name: "n".repeat(256) }, "OUT_OF_RANGE", "name"],
  [{ gln: "9521000000171" }, "INVALID", "gln"],
  [{ gln: "96385074" }, "INVALID", "gln"],
  [{ gln: "" }, "INVALID", "gln"],
  [{ gln: "952100000017" + "۹" }, "INVALID", "gln"],
  [{ address: "Hafenweg 1" }, "INVALID", "address"],
  [{ address: ["Hafenweg 1"] }, "INVALID", "address"],
  [{ address: 1 }, "INVALID", "address"],
  // Keys and values that no client is promised, nor looks for
  [{ address: { city: "Köln", zip: "50667" } }, "INVALID", "address"],
  [{ address: { city: "Köln", Zipcode: "50667" } }, "INVALID", "address"],
  [{ address: { zipcode: 50667 } }, "INVALID", "address"],
  [{ address: { street: ["Hafenweg 1"] } }, "INVALID", "address"],
];

describe("warehouseCreate", () => {
  it("makes a warehouse of a code and a name, with a location, and leaves the defaults", async () => {
    const { warehouse, userErrors } = await bench.mutate("warehouseCreate", { code: "N", name: "New" }, all);
    assert.deepEqual(userErrors, []);
    const { id, ...others } = warehouse;
    assert.match(id, /^gid:\/\/service\/Warehouse\/[0-9a-f-]{36}$/);
    assert.deepEqual(others, {
      ...{
        code: "N",
        name: "New",
        isDefault: false,
        isDefaultReceiving: false,
        isStockAvailableForSale: true,
      },
      address: null,
      location: { name: "New", active: true, storefrontId: null },
    });
    assert.equal(await defaults(), "MAIN / MAIN");
  });

  it("takes all fields, as long as they may be", async () => {
    const input = {
      code: "ä".repeat(100),
      name: "n".repeat(255),
      isDefault: true,
      isDefaultReceiving: false,
      ...{
        isStockAvailableForSale: false,
        address: { city: "Köln", street: null, company: "", zipcode: "5\"0'6" },
      },
    };
    const { warehouse } = await bench.mutate("warehouseCreate", input, all);
    const { id, location, ...others } = warehouse;
    assert.deepEqual(others, input);
    assert.equal(location.name, input.name);
    assert.equal(await defaults(), `${input.code} / MAIN`);
    const [row] = await bench.rows("select address from erp.warehouse where id = $1", [uuidOf(id)]);
    assert.deepEqual(row!.address, input.address);
  });

  it("takes the defaults from the others", async () => {
    await bench.mutate("warehouseCreate", { code: "R", name: "R", isDefaultReceiving: true });
    assert.equal(await defaults(), "MAIN / R");
    await bench.mutate("warehouseCreate", {
      code: "B",
      name: "B",
      isDefault: true,
      isDefaultReceiving: true,
    });
    assert.equal(await defaults(), "B / B");
  });

  it("makes the first warehouse the default for everything, whatever the input says", async () => {
    await bench.empty("erp.warehouse");
    const input = { code: "ONE", name: "One", isDefault: false, isDefaultReceiving: null };
    assert.deepEqual((await bench.mutate("warehouseCreate", input)).userErrors, []);
    assert.equal(await defaults(), "ONE / ONE");
  });

  for (const [change, code, field] of mistakes) {
    it(`refuses ${JSON.stringify(change).slice(0, 40)}: ${code}`, async () => {
      const input = { code: "N", name: "New", isDefault: true, ...change };
      const payload = await bench.unchanged(() => bench.mutate("warehouseCreate", input, all));
      assertRefused(payload, code, [field]);
    });
  }

  it("refuses other white space for a code", async () => {
    for (const code of ["\t", "\n", "\u00a0"])
      assertRefused(await bench.mutate("warehouseCreate", { code, name: "New" }, all), "INVALID", ["code"]);
  });
});

describe("warehouseUpdate", () => {
  const update = (input: object, fields = all) =>
    bench.mutate("warehouseUpdate", { id: bench.side, ...input }, fields);

  it("changes what is named, and nothing else", async () => {
    const first = (await update({})).warehouse;
    assert.equal(first.code, "SIDE");
    let expected = first;
    for (const change of [
      { code: "SIDE" },
      { code: "S2" },
      { address: { city: "Lyon" } },
      { isStockAvailableForSale: false },
      { isDefault: false, isDefaultReceiving: false },
      { isDefaultReceiving: true },
      { address: { zipcode: "1" }, code: "S3" },
      { address: null },
    ]) {
      const { warehouse, userErrors } = await update(change);
      assert.deepEqual(userErrors, []);
      assert.deepEqual(warehouse, (expected = { ...expected, ...change }));
    }
    assert.equal(await defaults(), "MAIN / S3");
  });

  for (const [change, code, field] of [
    ...mistakes,
    ...["code", "name", "isDefault", "isDefaultReceiving", "isStockAvailableForSale"].map(
      (field) => [{ [field]: null }, "REQUIRED", field] as const,
    ),
    [{ id: missingId("Warehouse") }, "NOT_FOUND", "id"] as const,
  ]) {
    it(`refuses ${JSON.stringify(change).slice(0, 40)}: ${code}`, async () => {
      const payload = await bench.unchanged(() => update({ isDefault: true, ...change }));
      assertRefused(payload, code, [field]);
    });
  }

  it("refuses what is no id of a warehouse", async () => {
    for (const id of [bench.bin, bench.product, "", "SIDE", uuidOf(bench.side), `${bench.side} `]) {
      const answer = await bench.unchanged(() => bench.send("warehouseUpdate", { id, name: "x" }));
      assert.deepEqual(answer.codes, ["BAD_USER_INPUT"]);
    }
  });

  it("doesn't leave the warehouses without a default", async () => {
    for (const change of [{ isDefault: false }, { isDefaultReceiving: false }])
      assertRefused(await bench.unchanged(() => update({ id: bench.main, ...change })), "INVALID", null);
    await update({ isDefault: true });
    assert.deepEqual((await update({ id: bench.main, isDefault: false })).userErrors, []);
    assert.equal(await defaults(), "SIDE / MAIN");
  });

  it("gives the location its name, unless that has one of its own", async () => {
    assert.equal((await update({ name: "Two" })).warehouse.location.name, "Two");
    await bench.rows("update erp.location set name = 'Shop window' where name = 'Two'");
    assert.equal((await update({ name: "Three" })).warehouse.location.name, "Shop window");
  });

  it("moves stock into what is not for sale, and back", async () => {
    await bench.stock({ binLocationId: bench.bin }, 4);
    await bench.stock({ warehouseId: bench.side }, 3);
    await bench.stock({ warehouseId: bench.main }, 10);
    const query = `{ product(id: "${bench.product}") { physicalStock stockNotAvailableForSale availableStock } }`;
    for (const [isStockAvailableForSale, stockNotAvailableForSale] of [
      [false, 7],
      [false, 7],
      [true, 0],
    ] as const) {
      await update({ isStockAvailableForSale });
      const { body } = await bench.service.ask(bench.token, { query });
      const availableStock = 17 - stockNotAvailableForSale;
      assert.deepEqual(body.data.product, { physicalStock: 17, stockNotAvailableForSale, availableStock });
    }
  });
});

describe("warehouseDelete", () => {
  const remove = (id: string) => bench.mutate("warehouseDelete", { id }, "deletedWarehouseId");

  it("deletes an empty warehouse with its bins, its location and its settings", async () => {
    const input = { productId: bench.product, warehouseId: bench.side, defaultBinLocationId: bench.bin };
    await bench.mutate("productWarehouseConfigurationSet", input);
    assert.deepEqual(await remove(bench.side), { deletedWarehouseId: bench.side, userErrors: [] });
    for (const table of ["location", "bin_location", "product_warehouse_configuration"]) {
      const left = await bench.rows(`select from erp.${table} where warehouse_id = $1`, [uuidOf(bench.side)]);
      assert.deepEqual(left, []);
    }
    assertRefused(await remove(bench.side), "NOT_FOUND", ["id"]);
  });

  it("keeps one that holds stock, and says how much", async () => {
    await bench.stock({ binLocationId: bench.bin }, 4);
    await bench.stock({ warehouseId: bench.side }, 3);
    const payload = await bench.unchanged(() => remove(bench.side));
    assert.deepEqual(assertRefused(payload, "WAREHOUSE_NOT_EMPTY", null), { quantity: 7 });
  });

  it("keeps a default one, but not the last one", async () => {
    assertRefused(await bench.unchanged(() => remove(bench.main)), "INVALID", null);
    await remove(bench.side);
    assert.deepEqual((await remove(bench.main)).userErrors, []);
  });

  it("keeps one that has something to receive or to fulfill", async () => {
    const location = `(select id from erp.location where warehouse_id = '${uuidOf(bench.side)}')`;
    await bench.rows(
      `insert into erp.fulfillment_order (number, state, source_warehouse_location_id) values ('F', 'Closed', ${location});
       insert into erp.goods_receipt (number, state, warehouse_id) values ('G', 'completed', '${uuidOf(bench.side)}')`,
    );
    const set = (state: string, before = "null") =>
      `update erp.fulfillment_order set state = ${state}, state_before_hold = ${before}`;
    for (const statement of [
      set("'Open'"),
      set("'InProgress'"),
      set("'OnHold'", "'Open'"),
      `${set("'Cancelled'")}; update erp.goods_receipt set state = 'approved'`,
      "update erp.goods_receipt set state = 'in_progress'",
    ]) {
      await bench.rows(statement);
      assertRefused(await bench.unchanged(() => remove(bench.side)), "REFERENCE_IN_USE", ["id"]);
    }
    await bench.rows("update erp.goods_receipt set state = 'completed'");
    assert.deepEqual((await remove(bench.side)).userErrors, []);
  });

  it("keeps the movements that passed through it, without its id", async () => {
    for (const delta of [5, -5]) await bench.stock({ warehouseId: bench.side }, delta);
    await remove(bench.side);
    const query = `{ stockMovements { edges { node { sourceWarehouseId sourceLocationTypeTechnicalName
      destinationWarehouse { id } destinationWarehouseId destinationLocationTypeTechnicalName } } } }`;
    const { body } = await bench.service.ask(bench.token, { query });
    const [came, went] = body.data.stockMovements.edges.map(({ node }: any) => node);
    assert.equal(came.destinationLocationTypeTechnicalName, "warehouse");
    assert.deepEqual([came.destinationWarehouseId, came.destinationWarehouse], [null, null]);
    assert.deepEqual([went.sourceLocationTypeTechnicalName, went.sourceWarehouseId], ["warehouse", null]);
  });

  it("refuses what is no id of a warehouse", async () => {
    for (const id of [bench.bin, "gid://service/Warehouse/x"])
      assert.deepEqual((await bench.send("warehouseDelete", { id })).codes, ["BAD_USER_INPUT"]);
  });
});

describe("the GLN of a warehouse", () => {
  const select = "warehouse { id gln }";

  it("is set when it is made, changed, kept and removed", async () => {
    const made = await bench.mutate(
      "warehouseCreate",
      { code: "GLN", name: "GLN", gln: "9521000000179" },
      select,
    );
    assert.deepEqual(made.userErrors, []);
    const { id, gln } = made.warehouse;
    const glns = [gln];
    for (const change of [{ gln: "9521000000346" }, { name: "Other" }, { gln: null }])
      glns.push((await bench.mutate("warehouseUpdate", { id, ...change }, select)).warehouse.gln);
    assert.deepEqual(glns, ["9521000000179", "9521000000346", "9521000000346", null]);
  });

  it("is taken by upserts, which refuse a wrong check digit by row", async () => {
    const warehouses = [
      { code: "GLN", name: "GLN", gln: "9521000000179" },
      { code: "GLN2", name: "GLN 2", gln: "9521000000170" },
    ];
    const select = "results { outcome userErrors { code field } } warehouses { gln }";
    const payload = await bench.mutate("warehousesUpsert", { warehouses, partial: true }, select);
    assert.deepEqual(payload.warehouses, [{ gln: "9521000000179" }]);
    assert.deepEqual(payload.results[1].userErrors, [{ code: "INVALID", field: ["warehouses", "1", "gln"] }]);
  });
});
