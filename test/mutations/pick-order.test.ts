import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop, ShopOrder } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// Bins by position, then by code C-1, C-2
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ poolSize: 5 });
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

let products = 0;
/** Makes a product, with a short name of its own. */
async function make(row: object): Promise<string> {
  const productNumber = `product ${++products}`;
  const { userErrors, products: made } = await shop.mutate(
    "productsUpsert",
    { products: [{ productNumber, ...row }] },
    { select: "products { id }" },
  );
  assert.deepEqual(userErrors, []);
  shop.id[productNumber] = made[0].id;
  return productNumber;
}
const dayMs = 86_400_000;
const now = Date.now();
const inDays = (days: number) => new Date(now + days * dayMs).toISOString().slice(0, 10);
/** Records batches of a product, by their number, and the days of their best-before date from now. */
async function record(product: string, batches: Record<string, number | null>): Promise<void> {
  const rows = Object.entries(batches).map(([number, days]) => {
    return { productNumber: product, number, bestBeforeDate: days === null ? null : inDays(days) };
  });
  for (const row of rows) {
    const made = await shop.mutate("batchesUpsert", { batches: [row] }, { select: "batches { id }" });
    assert.deepEqual(made.userErrors, []);
    shop.id[row.number] = made.batches[0].id;
  }
}
const orderOf = (product: string, quantity: number) =>
  shop.order([{ product, quantity }], [{ lines: [[0, quantity]] }]);
/** The places and batches of a shipment, in the order in which they were picked. */
async function picksOf({ userErrors, stockMovements }: any): Promise<string[]> {
  assert.deepEqual(userErrors, []);
  const picks = [];
  for (const { id, quantity, sourceBinLocation, sourceWarehouse } of stockMovements) {
    const [batch] = await shop.sql(
      `select b.number from ledger.stock_movement_batch m join erp.batch b on b.id = m.batch_id
       where m.stock_movement_id = $1`,
      id,
    );
    picks.push(
      [quantity, batch?.number, (sourceBinLocation ?? sourceWarehouse).code].filter(Boolean).join(" "),
    );
  }
  return picks;
}
const ship = async (product: string, quantity: number) =>
  picksOf(await shop.ship(await orderOf(product, quantity)));
const named = (order: ShopOrder, ...places: [place: string, quantity: number, batch: string][]) => ({
  lines: [
    {
      fulfillmentOrderLineItemId: order.fulfillmentOrders[0]!.lines[0],
      quantity: places.reduce((sum, [, quantity]) => sum + quantity, 0),
      places: places.map(([place, quantity, batch]) => ({
        place: { binLocationId: shop.id[place] },
        quantity,
        batchId: shop.id[batch],
      })),
    },
  ],
});
/** Ships units from places and of batches that are named. */
async function shipNamed(product: string, ...places: [place: string, quantity: number, batch: string][]) {
  const order = await orderOf(
    product,
    places.reduce((sum, [, quantity]) => sum + quantity, 0),
  );
  return shop.fulfill(order.fulfillmentOrders[0]!, named(order, ...places));
}

describe("units of products in batches are picked", () => {
  const dates = { late: 300, early: 100, none: null, other: 100 };
  const stocked = async (row: object) => {
    const product = await make({ tracking: "batch", ...row });
    await record(product, dates);
    for (const batch of ["other", "none", "early", "late"]) {
      await shop.store(product, "C-1", 1, batch);
      await shop.store(product, "A-2", 1, batch);
    }
    return product;
  };

  it("from the oldest batch on by default, and within it by bin", async () => {
    const picks = ["1 late A-2", "1 late C-1", "1 early A-2", "1 early C-1", "1 none A-2"];
    assert.deepEqual(await ship(await stocked({}), 5), picks);
    assert.deepEqual(await ship(await stocked({ pickOrder: "bin" }), 5), picks);
    assert.deepEqual(await ship(await stocked({ pickOrder: "first_in" }), 5), picks);
  });

  it("from the batch on that expires first, of several the oldest, and last without a date", async () => {
    const product = await stocked({ pickOrder: "first_expired" });
    const picks = ["early", "other", "late", "none"].flatMap((batch) => [`1 ${batch} A-2`, `1 ${batch} C-1`]);
    assert.deepEqual(await ship(product, 8), picks);
  });

  it("as the merchant says, unless the product does", async () => {
    await shop.sql("insert into erp.merchant (pick_order) values ('first_expired')");
    try {
      assert.deepEqual(await ship(await stocked({}), 2), ["1 early A-2", "1 early C-1"]);
      assert.deepEqual(await ship(await stocked({ pickOrder: "bin" }), 1), ["1 late A-2"]);
    } finally {
      await shop.sql("delete from erp.merchant");
    }
  });

  it("beside those that are named", async () => {
    const product = await stocked({ pickOrder: "first_expired" });
    const order = await shop.order(
      [
        { product, quantity: 1 },
        { product, quantity: 2 },
      ],
      [
        {
          lines: [
            [0, 1],
            [1, 2],
          ],
        },
      ],
    );
    const [first, second] = order.fulfillmentOrders[0]!.lines;
    const place = { place: { binLocationId: shop.id["A-2"] }, quantity: 1, batchId: shop.id.early };
    const lines = [
      { fulfillmentOrderLineItemId: second, quantity: 2 },
      { fulfillmentOrderLineItemId: first, quantity: 1, places: [place] },
    ];
    assert.deepEqual(await picksOf(await shop.fulfill(order.fulfillmentOrders[0]!, { lines })), [
      "1 early A-2",
      "1 early C-1",
      "1 other A-2",
    ]);
  });
});

describe("units without a batch are picked", () => {
  const stocked = async (row: object) => {
    const product = await make(row);
    for (const place of ["hall", "C-2", "C-1", "A-1", "A-2"]) await shop.store(product, place, 1);
    return product;
  };

  it("by bin by default, and where the product was put first", async () => {
    const byBin = ["1 A-2", "1 A-1", "1 C-1", "1 C-2", "1 hall"];
    assert.deepEqual(await ship(await stocked({}), 5), byBin);
    assert.deepEqual(await ship(await stocked({ pickOrder: "bin" }), 5), byBin);
    const byTime = ["1 hall", "1 C-2", "1 C-1", "1 A-1", "1 A-2"];
    assert.deepEqual(await ship(await stocked({ pickOrder: "first_in" }), 5), byTime);
    assert.deepEqual(await ship(await stocked({ pickOrder: "first_expired" }), 5), byTime);
  });

  it("after those of batches, of products that were kept in batches", async () => {
    for (const [pickOrder, picks] of [
      ["bin", ["1 A-2", "1 kept 1 C-1"]],
      ["first_in", ["1 kept 2 C-1", "1 A-2"]],
      ["first_expired", ["1 kept 3 C-1", "1 A-2"]],
    ] as const) {
      const product = await make({ tracking: "batch", pickOrder });
      const batch = `kept ${["bin", "first_in", "first_expired"].indexOf(pickOrder) + 1}`;
      await record(product, { [batch]: 50 });
      await shop.sql("update erp.product set is_batch_managed = false where id = $1", shop.id[product]!);
      await shop.store(product, "A-2", 1);
      await shop.store(product, "C-1", 1, batch);
      assert.deepEqual(await ship(product, 2), picks, pickOrder);
    }
  });
});

describe("never picked are", () => {
  const stocked = async (row: object = {}) => {
    const product = await make({ tracking: "batch", minimumRemainingShelfLifeDays: 30, ...row });
    await record(product, { expired: -3, short: 20, held: 300, fresh: 40 });
    for (const batch of ["expired", "short", "held", "fresh"]) await shop.store(product, "A-1", 2, batch);
    const { userErrors } = await shop.mutate("batchHold", { ids: [shop.id.held] });
    assert.deepEqual(userErrors, []);
    return product;
  };
  /** The refusal of a shipment that finds too little. */
  const insufficient = (product: string, requested: number, reasons: string, more: object) => ({
    code: "INSUFFICIENT_STOCK",
    message: `Warehouse hall holds 2 units of product ${product} to be picked, ${requested} are needed.${reasons}`,
    field: ["orderId"],
    details: { available: 2, requested, productNumber: product, ...more },
  });

  it("batches on hold, expired ones, and those short of the promised shelf life, in each order", async () => {
    for (const pickOrder of ["bin", "first_expired", "first_in"]) {
      const product = await stocked({ pickOrder });
      const { userErrors } = await shop.ship(await orderOf(product, 3));
      assert.deepEqual(userErrors, [
        insufficient(
          product,
          3,
          " Of what lies there, 2 are on hold, 2 have expired, " +
            "2 are short of the promised shelf life, unless you name their batches.",
          { held: 2, expired: 2, short: 2 },
        ),
      ]);
      assert.deepEqual(await ship(product, 2), ["2 fresh A-1"]);
    }
  });

  it("but only these, and the refusal names only what lies there", async () => {
    const product = await stocked({ minimumRemainingShelfLifeDays: null });
    await shop.mutate("batchRelease", { ids: [shop.id.held] });
    const { userErrors } = await shop.ship(await orderOf(product, 7));
    assert.deepEqual(
      [userErrors[0].message.split(".").slice(1), userErrors[0].details],
      [
        [" Of what lies there, 2 have expired", ""],
        { available: 6, requested: 7, productNumber: product, expired: 2 },
      ],
    );
    assert.deepEqual(await ship(product, 6), ["2 short A-1", "2 held A-1", "2 fresh A-1"]);
  });

  it("short ones, which can be shipped by name; expired ones can't", async () => {
    const product = await stocked();
    const expired = await shipNamed(product, ["A-1", 1, "short"], ["A-1", 1, "expired"]);
    assert.deepEqual(refusals(expired), [["BATCH_EXPIRED", "lines.0.places.1.batchId"]]);
    assert.equal(
      expired.userErrors[0].message,
      `Batch expired was best before ${inDays(-3)}. Name another one.`,
    );
    assert.deepEqual(await picksOf(await shipNamed(product, ["A-1", 2, "short"])), ["2 short A-1"]);
  });

  it("expired ones, which still can be moved, counted and disposed of", async () => {
    const product = await stocked();
    const line = { quantity: 1, batchId: shop.id.expired };
    const moved = await shop.mutate("stockTransfer", { lines: [shop.move(product, "A-1", "R-1", line)] });
    const counted = await shop.mutate("stockSet", { lines: [shop.line(product, "A-1", line)] });
    const gone = await shop.mutate("stockAdjust", {
      lines: [shop.line(product, "R-1", { delta: -1, batchId: shop.id.expired })],
    });
    assert.deepEqual([moved.userErrors, counted.userErrors, gone.userErrors], [[], [], []]);
  });
});

describe("the day on which a batch expires", () => {
  /** Batches that are picked, in the order of their dates, from the day before today to the one after it. */
  const picked = async (days: number | null, timeZone: string, base: string): Promise<number[]> => {
    const { owner } = shop;
    const product = uuidOf(shop.id["glue"]!);
    await owner.query("begin");
    try {
      await owner.query("insert into erp.merchant (time_zone) values ($1)", [timeZone]);
      await owner.query(
        "update erp.product set minimum_remaining_shelf_life_days = $2, pick_order = 'first_expired' where id = $1",
        [product, days],
      );
      const { rows } = await owner.query(
        `with made as (
           insert into erp.batch (product_id, number, best_before_date)
           select $1, 'day ' || n, (now() at time zone $2)::date + n from generate_series(-3, 3) n returning id),
         bin as (select id, warehouse_id from erp.bin_location where code = 'C-2'),
         moved as (
           insert into ledger.stock_movement (product_id, quantity, process_type_technical_name,
             source_location_type_technical_name, source_special_stock_location_technical_name,
             destination_location_type_technical_name, destination_bin_location_id)
           select $1, 7, 'incoming', 'special_stock_location', 'import', 'bin_location', id from bin returning id)
         insert into ledger.stock_movement_batch (stock_movement_id, batch_id, quantity)
         select moved.id, made.id, 1 from moved, made returning (select warehouse_id from bin)`,
        [product, base],
      );
      const found = await owner.query(
        `select b.best_before_date - (now() at time zone $3)::date as day
         from unnest(ledger.pick_units(array[row('{}', uuidv7(), $1, $2, 99, null, null, null)::ledger.pick]))
           with ordinality p join erp.batch b on b.id = p.batch_id where b.number ~ '^day' order by p.ordinality`,
        [product, rows[0].warehouse_id, base],
      );
      return found.rows.map(({ day }) => day);
    } finally {
      await owner.query("rollback");
    }
  };

  it("is sold on its best-before date, and the promised days before it", async () => {
    assert.deepEqual(await picked(null, "UTC", "UTC"), [0, 1, 2, 3]);
    assert.deepEqual(await picked(0, "UTC", "UTC"), [0, 1, 2, 3]);
    assert.deepEqual(await picked(2, "UTC", "UTC"), [2, 3]);
    assert.deepEqual(await picked(4, "UTC", "UTC"), []);
  });

  it("is a day in the merchant's time zone", async () => {
    // Two zones 26 hours apart, between which there is always at least one midnight
    const [east, west] = ["Pacific/Kiritimati", "Etc/GMT+12"];
    assert.deepEqual(await picked(null, west, west), [0, 1, 2, 3]);
    assert.ok((await picked(null, east, west))[0]! >= 1);
    assert.ok((await picked(null, west, east)).includes(-1));
  });
});

describe("the plan of picking", () => {
  it("reads stock and batches by index, and no batches of products that have none", async () => {
    const plain = await make({});
    await shop.store(plain, "A-1", 5);
    const product = await make({ tracking: "batch", pickOrder: "first_expired" });
    await record(product, { b1: 50, b2: 40 });
    for (const batch of ["b1", "b2"]) await shop.store(product, "A-1", 5, batch);
    const counts = async (): Promise<Record<string, [whole: number, byIndex: number]>> => {
      const { rows } = await shop.owner.query(
        `select relname, seq_scan::int as whole, idx_scan::int as by_index from pg_stat_xact_user_tables
           where relname in ('stock', 'batch_stock', 'batch', 'bin_location', 'product')`,
      );
      return Object.fromEntries(rows.map(({ relname, whole, by_index }) => [relname, [whole, by_index]]));
    };
    /** How often statements read tables, as a whole and by index, while an order is shipped. */
    const scans = async (order: ShopOrder) => {
      await shop.owner.query("begin");
      try {
        await shop.owner.query("select set_config('service.scopes', 'orders:write', true)");
        const earlier = await counts();
        await shop.owner.query(
          "select mutation.run('api_unstable', 'order_shipment_complete', $1, null, false)",
          [{ order_id: uuidOf(order.id) }],
        );
        const read = Object.entries(await counts()).map(([table, [whole, byIndex]]) => {
          const [wholeBefore, byIndexBefore] = earlier[table]!;
          return [table, [whole - wholeBefore, byIndex > byIndexBefore]];
        });
        return Object.fromEntries(read);
      } finally {
        await shop.owner.query("rollback");
      }
    };
    const byIndex = [0, true];
    assert.deepEqual(await scans(await orderOf(product, 7)), {
      stock: byIndex,
      batch_stock: byIndex,
      batch: byIndex,
      bin_location: byIndex,
      product: byIndex,
    });
    assert.deepEqual((await scans(await orderOf(plain, 5))).batch, [0, false]);
  });
});
