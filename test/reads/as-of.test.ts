import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import pg from "pg";
import type { Past, PastOfShop } from "../lib/past.ts";
import { moveBin, pastOf } from "../lib/past.ts";
import { assertLedgerIsRight } from "../lib/shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { until } from "../lib/until.ts";

let shop: ShippingShop;
let past: PastOfShop;
beforeEach(async () => {
  await shop?.close();
  shop = await openShippingShop();
  past = pastOf(shop);
});
after(() => shop.close());

/** The codes of the errors of a product's figure. */
async function refusalOf(given: string): Promise<string[]> {
  const query = `query ($id: ID!) { product(id: $id) { physicalStockAsOf${given} } }`;
  const { codes } = await shop.ask(await shop.token(), { query, variables: { id: shop.id.hammer } });
  return codes;
}

const inEach = async (product: string, of: Past) => ({
  all: await past.ofProduct(product, of),
  hall: await past.inWarehouse(product, "hall", of),
  shed: await past.inWarehouse(product, "shed", of),
  bin: await past.inPlace(product, "A-1", of),
});

describe("stock as of a number and as of a moment", () => {
  it("differ by counts that arrived late, and by nothing else", async () => {
    const begin = await past.now();
    await past.adjust("hammer", "A-1", 10);
    const counted = await past.now();
    await past.adjust("hammer", "A-1", -3);
    const known = await past.number();
    const sold = await past.now();
    // 12 were there before three were sold, so 9 must be there
    await past.count("hammer", "A-1", 12, counted);
    const after = { sequence: await past.number() };
    for (const closings of [0, 2]) {
      assert.equal(await past.close(closings === 0 ? 1000 : 1), closings === 0 ? 0 : 3);
      assert.deepEqual(await inEach("hammer", { moment: begin }), { all: 0, hall: 0, shed: null, bin: 0 });
      assert.equal(await past.inPlace("hammer", "A-1", { sequence: known }), 7);
      assert.equal(await past.inPlace("hammer", "A-1", { moment: counted }), 12);
      assert.equal(await past.inPlace("hammer", "A-1", { moment: sold }), 9);
      assert.deepEqual(await inEach("hammer", after), { all: 9, hall: 9, shed: null, bin: 9 });
      assert.equal(await past.ofProduct("hammer", { sequence: 0 }), 0);
    }
    await assertLedgerIsRight(shop);
  });

  it("leave out counts that were superseded, and follow moves between places", async () => {
    await past.adjust("nail", "A-1", 20);
    const early = await past.now();
    await past.move("nail", "A-1", "B-1", 5);
    const moved = await past.now();
    assert.deepEqual(await past.count("nail", "A-1", 16, moved), []);
    assert.deepEqual(await past.count("nail", "A-1", 99, early), ["COUNT_SUPERSEDED"]);
    const newest = await past.number();
    await past.close(1);
    assert.deepEqual(await inEach("nail", { moment: early }), { all: 20, hall: 20, shed: 0, bin: 20 });
    assert.deepEqual(await inEach("nail", { moment: moved }), { all: 21, hall: 16, shed: 5, bin: 16 });
    assert.deepEqual(await inEach("nail", { sequence: newest - 1 }), {
      ...{ all: 20, hall: 15, shed: 5, bin: 15 },
    });
  });

  it("are told of batches, and of containers and goods receipts, but not of orders", async () => {
    await past.adjust("glue", "A-1", 4, "G1");
    await past.adjust("glue", "A-1", 6, "G2");
    const first = await past.number();
    const counted = await past.now();
    await past.move("glue", "A-1", "B-1", 3, "G1");
    await past.count("glue", "A-1", 5, counted, "G2");
    const second = { sequence: await past.number() };
    await past.close(1);
    assert.deepEqual(
      [await past.ofBatch("G1", { sequence: first }), await past.ofBatch("G2", { sequence: first })],
      [4, 6],
    );
    assert.equal(await past.ofBatch("G2", { moment: counted }), 5);
    const { batch } = await shop.read(
      `query ($id: ID!, $now: Float) { batch(id: $id) { stocks { edges { node {
        then: quantityAsOf(sequence: ${first}) now: quantityAsOf(sequence: $now) stock { binLocation { code } } } } } } }`,
      { id: shop.id.G1, now: second.sequence },
    );
    const found = batch.stocks.edges.map(({ node }: any) => [
      node.stock.binLocation.code,
      node.then,
      node.now,
    ]);
    assert.deepEqual(found.sort(), [
      ["A-1", 4, 1],
      ["B-1", 0, 3],
    ]);
    await shop.sql(
      "insert into erp.stock_container (number, warehouse_id) select 'box', id from erp.warehouse where code = 'hall'",
    );
    await past.adjust("hammer", "A-1", 2);
    await shop.sql(
      `insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name, source_bin_location_id,
         destination_location_type_technical_name, destination_stock_container_id)
       select $1, 1, 'bin_location', $2, 'stock_container', id from erp.stock_container`,
      shop.id.hammer!,
      shop.id["A-1"]!,
    );
    const newest = await past.number();
    const { product } = await shop.read(
      `query ($id: ID!) { product(id: $id) { physicalStockAsOf(sequence: ${newest}) stocks { edges { node {
        locationTypeTechnicalName quantityAsOf(sequence: ${newest}) } } } } }`,
      { id: shop.id.hammer },
    );
    assert.equal(product.physicalStockAsOf, 2);
    assert.deepEqual(
      product.stocks.edges.map(({ node }: any) => [node.locationTypeTechnicalName, node.quantityAsOf]).sort(),
      [
        ["bin_location", 1],
        ["special_stock_location", null],
        ["stock_container", 1],
      ],
    );
  });

  it("are listed for a warehouse, without what it did not hold then", async () => {
    await past.adjust("hammer", "A-1", 2);
    const then = await past.number();
    await past.adjust("nail", "hall", 7);
    await past.adjust("hammer", "A-1", -2);
    const newest = await past.number();
    const heldAt = async (number: number) => {
      const { warehouse } = await shop.read(
        `query ($id: ID!) { warehouse(id: $id) { stocksAsOf(sequence: ${number}) { edges { node {
          quantity quantityAsOf(sequence: ${number}) product { productNumber } } } } } }`,
        { id: shop.id.hall },
      );
      return warehouse.stocksAsOf.edges.map(({ node }: any) => [
        node.product.productNumber,
        node.quantityAsOf,
        node.quantity,
      ]);
    };
    assert.deepEqual(await heldAt(then), [["hammer", 2, 0]]);
    assert.deepEqual(await heldAt(newest), [["nail", 7, 7]]);
  });
});

describe("what remains of places and products", () => {
  it("a deleted bin still counts in its warehouse and product, at the moment of its counts", async () => {
    await past.adjust("hammer", "A-1", 10);
    const counted = await past.now();
    await past.count("hammer", "A-1", 12, counted);
    const full = { sequence: await past.number() };
    await past.close(1);
    await past.move("hammer", "A-1", "B-1", 12);
    await past.number();
    await shop.sql("delete from erp.bin_location where id = $1", shop.id["A-1"]!);
    for (const closings of [2, 3]) {
      assert.equal(await past.close(1), closings + (closings === 2 ? 1 : 0));
      assert.equal(await past.inWarehouse("hammer", "hall", full), 12);
      assert.equal(await past.inWarehouse("hammer", "hall", { moment: counted }), 12);
      assert.equal(await past.ofProduct("hammer", { moment: counted }), 12);
      assert.equal(await past.inWarehouse("hammer", "shed", { moment: counted }), 0);
    }
    await assertLedgerIsRight(shop);
  });

  it("a bin counts in the warehouse where it stood, also after it was deleted there", async () => {
    await past.adjust("hammer", "A-1", 10);
    const inHall = { moment: await past.now() };
    await past.adjust("hammer", "A-1", -10);
    // For what the shed holds now
    await past.adjust("hammer", "B-1", 1);
    await moveBin(shop, "A-1", "shed");
    await past.adjust("hammer", "A-1", 4);
    const inShed = { moment: await past.now() };
    await past.adjust("hammer", "A-1", -4);
    const check = async () => {
      assert.deepEqual(
        [await past.inWarehouse("hammer", "hall", inHall), await past.inWarehouse("hammer", "shed", inHall)],
        [10, 0],
      );
      assert.deepEqual(
        [await past.inWarehouse("hammer", "hall", inShed), await past.inWarehouse("hammer", "shed", inShed)],
        [0, 5],
      );
    };
    await check();
    await past.number();
    await past.close(2);
    await check();
    await shop.sql("delete from erp.bin_location where id = $1", shop.id["A-1"]!);
    await check();
    await assertLedgerIsRight(shop);
  });

  it("a deleted warehouse still counts in the product, and its key stays in closings", async () => {
    await past.adjust("hammer", "B-1", 3);
    await past.adjust("hammer", "shed", 2);
    const full = { moment: await past.now() };
    await past.number();
    await past.close(1);
    await past.adjust("hammer", "B-1", -3);
    await past.adjust("hammer", "shed", -2);
    const newest = await past.number();
    await shop.sql("delete from erp.location where warehouse_id = $1", shop.id.shed!);
    await shop.sql("delete from erp.warehouse where id = $1", shop.id.shed!);
    assert.equal(await past.ofProduct("hammer", full), 5);
    assert.equal(await past.ofProduct("hammer", { sequence: newest }), 0);
    await past.close(1);
    assert.equal(await past.ofProduct("hammer", full), 5);
    const kept = await shop.sql(
      "select distinct warehouse_id as id from ledger.closing_balance where warehouse_id = $1",
      shop.id.shed!,
    );
    assert.equal(kept.length, 1);
    await assertLedgerIsRight(shop);
  });

  it("a deleted product takes its movements and balances with it, not their numbers", async () => {
    await past.adjust("hammer", "A-1", 3);
    await past.adjust("nail", "A-1", 5);
    const newest = await past.number();
    await past.close(1);
    await past.adjust("hammer", "A-1", -3);
    await shop.sql("delete from erp.product where id = $1", shop.id.hammer!);
    assert.equal(await past.inPlace("nail", "A-1", { sequence: newest }), 5);
    const [left] = await shop.sql(
      `select (select count(*)::int from ledger.movement_sequence) as numbers,
         (select count(*)::int from ledger.closing_balance where product_id = $1) as balances,
         (select count(*)::int from ledger.stock_movement where product_id = $1) as movements`,
      shop.id.hammer!,
    );
    assert.deepEqual(left, { numbers: 2, balances: 0, movements: 0 });
    await past.number();
    await past.close(1);
    await assertLedgerIsRight(shop);
  });
});

describe("a past that can't be told", () => {
  it("is refused: neither or both of number and moment", async () => {
    await past.adjust("hammer", "A-1", 1);
    await past.number();
    assert.deepEqual(await refusalOf(""), ["BAD_USER_INPUT"]);
    assert.deepEqual(await refusalOf(`(sequence: 1, moment: "2026-01-01T00:00:00Z")`), ["BAD_USER_INPUT"]);
    assert.deepEqual(await refusalOf("(sequence: 1)"), []);
  });

  it("is refused: a number that no movement has, and the future", async () => {
    await past.adjust("hammer", "A-1", 1);
    assert.deepEqual(await refusalOf("(sequence: 1)"), ["AS_OF_TOO_LATE"]);
    await past.number();
    assert.deepEqual(await refusalOf("(sequence: 1)"), []);
    assert.deepEqual(await refusalOf("(sequence: 2)"), ["AS_OF_TOO_LATE"]);
    assert.deepEqual(await refusalOf(`(moment: "2999-01-01T00:00:00Z")`), ["AS_OF_TOO_LATE"]);
    assert.deepEqual(await refusalOf(`(moment: "${await past.now()}")`), []);
  });

  it("is refused: a moment after the beginning of a booking that is still open", async () => {
    await past.adjust("hammer", "A-1", 1);
    await past.number();
    // The ledger notes when transactions begin to write, by the hour
    await past.close(1000);
    const open = new pg.Client({ connectionString: shop.ownerUrl });
    await open.connect();
    try {
      await open.query("begin");
      await open.query("select from erp.product where product_number = 'nail' for no key update");
      const moment = await past.now();
      assert.deepEqual(await refusalOf(`(moment: "${moment}")`), ["AS_OF_TOO_LATE"]);
      const [{ moment: earlier }] = await shop.sql(
        `select to_char(max(moment) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as moment from ledger.writing_since`,
      );
      // Others in the same Postgres may write at that moment, and end soon
      await until(async () => (await refusalOf(`(moment: "${earlier}")`)).length === 0);
      await open.query("rollback");
      await until(async () => (await refusalOf(`(moment: "${moment}")`)).length === 0);
    } finally {
      await open.end();
    }
  });

  it("needs the scope of the figure", async () => {
    const token = await shop.token({ read: ["products"] });
    const query = "query ($id: ID!) { product(id: $id) { physicalStockAsOf(sequence: 0) } }";
    assert.deepEqual((await shop.ask(token, { query, variables: { id: shop.id.hammer } })).codes, []);
    const lines = `query ($id: ID!) { product(id: $id) { stockCard(since: "2026-01-01T00:00:00Z") { incoming } } }`;
    assert.deepEqual((await shop.ask(token, { query: lines, variables: { id: shop.id.hammer } })).codes, [
      "FORBIDDEN",
    ]);
  });
});
