import assert from "node:assert/strict";
import { it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import { until } from "../lib/until.ts";
import { assertRefused, useBench } from "./support.ts";
import type { Payload } from "./support.ts";

// As many connections as callers, so that they really meet in the database
const bench = useBench({ poolSize: 20 });

const times = <T>(count: number, work: (n: number) => T) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

/** Asserts that one was done, and the others were refused. */
const assertOne = (payloads: Payload[], code: string, field: string[]) => {
  const refused = payloads.filter(({ userErrors }) => userErrors.length > 0);
  assert.equal(refused.length, payloads.length - 1);
  for (const payload of refused) assertRefused(payload, code, field);
};

it("20 new defaults at once leave one, and none fails", async () => {
  const payloads = await times(20, (n) =>
    bench.mutate("warehouseCreate", {
      code: `N${n}`,
      name: "New",
      isDefault: true,
      isDefaultReceiving: n % 2 === 0,
    }),
  );
  for (const { userErrors } of payloads) assert.deepEqual(userErrors, []);
  const [row] = await bench.rows(
    `select count(*)::int, (count(*) filter (where is_default))::int as defaults,
       (count(*) filter (where is_default_receiving))::int as receiving from erp.warehouse`,
  );
  assert.deepEqual(row, { count: 22, defaults: 1, receiving: 1 });
});

it("20 first warehouses at once: one is the default", async () => {
  await bench.empty("erp.warehouse");
  await times(20, (n) => bench.mutate("warehouseCreate", { code: `N${n}`, name: "New" }));
  const rows = await bench.rows("select is_default_receiving as both from erp.warehouse where is_default");
  assert.deepEqual(rows, [{ both: true }]);
});

it("20 warehouses of one code: one is made", async () => {
  const payloads = await times(20, () =>
    bench.mutate("warehouseCreate", { code: "N", name: "New" }, "warehouse { id }"),
  );
  assertOne(payloads, "NOT_UNIQUE", ["code"]);
});

it("20 bins of one code: one is made", async () => {
  const input = { warehouseId: bench.side, code: "N" };
  assertOne(await times(20, () => bench.mutate("binLocationCreate", input)), "NOT_UNIQUE", ["code"]);
});

it("20 deletions of one warehouse: one does it", async () => {
  const payloads = await times(20, () => bench.mutate("warehouseDelete", { id: bench.side }));
  assertOne(payloads, "NOT_FOUND", ["id"]);
});

it("settings made while stock is booked count all of it", async () => {
  const input = { productId: bench.product, warehouseId: bench.side };
  await times(20, (n) =>
    n % 2 === 0
      ? bench.stock({ binLocationId: bench.bin }, 1)
      : bench.mutate("productWarehouseConfigurationSet", { ...input, reorderPoint: n }),
  );
  const rows = await bench.rows("select stock from erp.product_warehouse_configuration");
  assert.deepEqual(rows, [{ stock: 10 }]);
});

it("a warehouse that starts and stops to sell while stock is booked", async () => {
  await times(30, (n) =>
    n % 3 === 0
      ? bench.mutate("warehouseUpdate", { id: bench.side, isStockAvailableForSale: n % 2 === 0 })
      : bench.stock(n % 3 === 1 ? { warehouseId: bench.side } : { binLocationId: bench.bin }, 1),
  );
  const rows = await bench.rows("select physical_stock as held from erp.product");
  assert.deepEqual(rows, [{ held: 20 }]);
});

it("a bin that is deleted while stock is put there: one of both is refused", async () => {
  for (let n = 0; n < 10; n++) {
    const { binLocation } = await bench.mutate(
      "binLocationCreate",
      { warehouseId: bench.side, code: `N${n}` },
      "binLocation { id }",
    );
    const lines = [{ productId: bench.product, place: { binLocationId: binLocation.id }, delta: 1 }];
    const [booked, deleted] = await Promise.all([
      bench.mutate("stockAdjust", { lines }),
      bench.mutate("binLocationDelete", { id: binLocation.id }),
    ]);
    if (booked.userErrors.length === 0) assertRefused(deleted, "WAREHOUSE_NOT_EMPTY", null);
    else {
      assertRefused(booked, "NOT_FOUND", ["lines", "0", "place", "binLocationId"]);
      assert.deepEqual(deleted.userErrors, []);
    }
  }
});

it("a warehouse that is deleted while it gets bins and settings: nothing is left of it", async () => {
  for (let n = 0; n < 5; n++) {
    const { warehouse } = await bench.mutate(
      "warehouseCreate",
      { code: `N${n}`, name: "New" },
      "warehouse { id }",
    );
    const [deleted, ...others] = await Promise.all([
      bench.mutate("warehouseDelete", { id: warehouse.id }),
      bench.mutate("binLocationCreate", { warehouseId: warehouse.id, code: "N" }),
      bench.mutate("productWarehouseConfigurationSet", {
        productId: bench.product,
        warehouseId: warehouse.id,
      }),
    ]);
    assert.deepEqual(deleted.userErrors, []);
    for (const { userErrors } of others) assert.ok(userErrors.every(({ code }) => code === "NOT_FOUND"));
  }
  assert.deepEqual(await bench.rows("select from erp.bin_location where id <> $1", [uuidOf(bench.bin)]), []);
  assert.deepEqual(await bench.rows("select from erp.product_warehouse_configuration"), []);
});

it("several in one operation are done in their order, and each answers what was then", async () => {
  const query = `mutation ($side: ID!, $bin: ID!) {
    a: warehouseUpdate(input: { id: $side, code: "A", name: "A" }) { ...facts }
    b: warehouseUpdate(input: { id: $side, code: "MAIN" }) { ...facts }
    c: warehouseUpdate(input: { id: $side, code: "C", name: "C" }) { ...facts }
    d: binLocationDelete(input: { id: $bin }) { userErrors { code } }
    e: warehouseUpdate(input: { id: $side }) { ...facts }
  }
  fragment facts on WarehouseUpdatePayload {
    warehouse { code location { name } binLocations { edges { node { code } } } } userErrors { code }
  }`;
  const { body } = await bench.service.ask(bench.token, {
    query,
    variables: { side: bench.side, bin: bench.bin },
  });
  const facts = (code: string, ...bins: string[]) => ({
    warehouse: {
      code,
      location: { name: code },
      binLocations: { edges: bins.map((bin) => ({ node: { code: bin } })) },
    },
    userErrors: [],
  });
  assert.deepEqual(body.data, {
    ...{
      a: facts("A", "B-1"),
      b: { warehouse: null, userErrors: [{ code: "NOT_UNIQUE" }] },
      c: facts("C", "B-1"),
    },
    d: { userErrors: [] },
    e: facts("C"),
  });
});

/**
 * Runs work during a transaction of the owner, each piece when those before it wait for a lock; then ends the
 * transaction, and returns the results and durations in milliseconds.
 */
const amid = async <T>(statement: string, end: "commit" | "rollback", ...works: (() => Promise<T>)[]) => {
  const owner = await bench.service.owner.connect();
  await owner.query(`begin; ${statement}`);
  const answers: Promise<T>[] = [];
  const areWaiting = async () => {
    const rows = await bench.rows(
      `select distinct pid from pg_locks where not granted
         and pid in (select pid from pg_stat_activity where datname = current_database())`,
    );
    return rows.length === answers.length;
  };
  try {
    for (const work of works) {
      answers.push(work());
      await until(areWaiting);
    }
  } finally {
    await owner.query(end);
    owner.release();
  }
  const started = performance.now();
  return { answers: await Promise.all(answers), took: performance.now() - started };
};

it("a warehouse that is deleted while it is changed: neither waits for the other in a circle", async () => {
  const deleteWhileChanged = async () => {
    const { id } = (await bench.mutate("warehouseCreate", { code: "W", name: "W" }, "warehouse { id }"))
      .warehouse;
    const { answers, took } = await amid(
      `select from erp.warehouse where id = '${uuidOf(id)}' for key share`,
      "rollback",
      () => bench.mutate("warehouseDelete", { id }),
      () => bench.mutate("warehouseUpdate", { id, code: "W2" }),
    );
    assert.deepEqual(answers[0]!.userErrors, []);
    assert.ok(answers[1]!.userErrors.every(({ code }) => code === "NOT_FOUND"));
    return took;
  };
  // Postgres ends a circle after a second, each time; a busy machine is as slow only sometimes
  await until(async () => (await deleteWhileChanged()) < 900);
});

it("settings of a product that is being deleted: it is not found", async () => {
  const input = { productId: bench.product, warehouseId: bench.side };
  const { answers } = await amid("delete from erp.product", "commit", () =>
    bench.send("productWarehouseConfigurationSet", input),
  );
  assert.deepEqual(answers[0]!.codes, []);
  assertRefused(answers[0]!.body.data.productWarehouseConfigurationSet, "NOT_FOUND", ["productId"]);
});
