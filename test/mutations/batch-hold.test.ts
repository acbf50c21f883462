import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { versions } from "../../src/versions/versions.ts";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { missingId, uuidOf } from "../lib/ids.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// What is held is not available, everywhere and counted once. The hall and the shed sell their stock; the warehouse for
// returns, with bin R-1, doesn't.

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ versions });
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const select = "batches { id number isHeld heldAt holdReason } warnings { code message field details }";
const hold = (batches: string[], more = {}, options = {}) =>
  shop.mutate("batchHold", { ids: batches.map(idOf), ...more }, { select, ...options });
const release = (batches: string[], more = {}) =>
  shop.mutate("batchRelease", { ids: batches.map(idOf), ...more }, { select });
const idOf = (batch: string) => shop.id[batch] ?? batch;
const codes = ({ warnings, userErrors }: any): string[] => {
  assert.deepEqual(userErrors, []);
  return warnings.map(({ code }: any) => code);
};
const done = ({ userErrors }: any) => assert.deepEqual(userErrors, []);

let made = 0;
/** A new product that is kept in batches, and two batches of it. */
async function newProduct(): Promise<[product: string, first: string, second: string]> {
  const name = `made-${++made}`;
  const [row] = await shop.sql(
    `with p as (insert into erp.product (product_number, is_batch_managed) values ('${name}', true) returning id),
     b as (insert into erp.batch (product_id, number) select id, n from p, unnest('{1,2}'::text[]) n returning id, number)
     select 'gid://service/Product/' || (select id from p) as id,
       array(select 'gid://service/Batch/' || id from b order by number) as batches`,
  );
  const [one, two] = [`${name}-1`, `${name}-2`];
  Object.assign(shop.id, { [name]: row.id, [one]: row.batches[0], [two]: row.batches[1] });
  return [name, one, two];
}

/** What the API shows of a product: [physical, not for sale, available], and of each warehouse [quantity, reserved, held, available]. */
async function figures(product: string): Promise<Record<string, number[]>> {
  const { product: shown } = await shop.read(
    `query ($id: ID!) { product(id: $id) { physicalStock stockNotAvailableForSale availableStock
       warehouseStocks { edges { node { quantity reservedQuantity heldQuantity availableQuantity warehouse { code } } } } } }`,
    { id: shop.id[product] },
  );
  const warehouses = shown.warehouseStocks.edges.map(({ node }: any) => [
    node.warehouse.code,
    [node.quantity, node.reservedQuantity, node.heldQuantity, node.availableQuantity],
  ]);
  return {
    all: [shown.physicalStock, shown.stockNotAvailableForSale, shown.availableStock],
    ...Object.fromEntries(warehouses),
  };
}
const batch = async (name: string) =>
  (
    await shop.read(`query ($id: ID!) { batch(id: $id) { isHeld heldAt holdReason physicalStock } }`, {
      id: shop.id[name],
    })
  ).batch;
const transfer = (product: string, from: string, to: string, quantity: number, batchId: string) =>
  shop.mutate("stockTransfer", {
    lines: [shop.move(product, from, to, { quantity, batchId: shop.id[batchId] })],
  });
const sells = (warehouse: string, isStockAvailableForSale: boolean) =>
  shop.mutate("warehouseUpdate", { id: shop.id[warehouse], isStockAvailableForSale });

let product: string;
let one: string;
let two: string;
beforeEach(async () => {
  [product, one, two] = await newProduct();
});

describe("a batch on hold", () => {
  beforeEach(async () => {
    await shop.store(product, "A-1", 5, one);
    await shop.store(product, "hall", 3, two);
    await shop.store(product, "R-1", 4, one);
  });

  it("is not available, and counted once where the warehouse is off sale", async () => {
    const free = { all: [12, 4, 8], hall: [8, 0, 0, 8], returns: [4, 0, 0, 4] };
    assert.deepEqual(await figures(product), free);
    const { batches, userErrors, warnings } = await hold([one], { reason: "Glass was found" });
    assert.deepEqual([userErrors, warnings], [[], []]);
    const [{ heldAt, ...rest }] = batches;
    assert.deepEqual(rest, { id: shop.id[one], number: "1", isHeld: true, holdReason: "Glass was found" });
    assert.ok(Math.abs(Date.parse(heldAt) - Date.now()) < 60_000, heldAt);
    const held = { all: [12, 9, 3], hall: [8, 0, 5, 3], returns: [4, 0, 4, 0] };
    assert.deepEqual(await figures(product), held);

    const released = await release([one]);
    assert.deepEqual(codes(released), []);
    assert.deepEqual(released.batches, [
      { id: shop.id[one], number: "1", isHeld: false, heldAt: null, holdReason: null },
    ]);
    assert.deepEqual(await figures(product), free);
  });

  it("keeps its figures through each way of booking", async () => {
    await hold([one]);
    const held = shop.id[one];
    await shop.store(product, "A-1", 2, one);
    assert.deepEqual(await figures(product), {
      all: [14, 11, 3],
      hall: [10, 0, 7, 3],
      returns: [4, 0, 4, 0],
    });
    done(await transfer(product, "A-1", "B-1", 3, one));
    assert.deepEqual(await figures(product), {
      ...{ all: [14, 11, 3], hall: [7, 0, 4, 3], shed: [3, 0, 3, 0], returns: [4, 0, 4, 0] },
    });
    done(await transfer(product, "B-1", "R-1", 3, one));
    done(await transfer(product, "R-1", "A-2", 1, one));
    done(await transfer(product, "A-2", "hall", 1, one));
    assert.deepEqual(await figures(product), {
      ...{ all: [14, 11, 3], hall: [8, 0, 5, 3], shed: [0, 0, 0, 0], returns: [6, 0, 6, 0] },
    });
    const line = shop.line(product, "A-1", { quantity: 2, batchId: held });
    done(await shop.mutate("stockSet", { lines: [line] }));
    assert.deepEqual((await figures(product)).hall, [6, 0, 3, 3]);
    // In one warehouse, one batch replaces another: its quantity stays
    const lines = [
      shop.line(product, "A-1", { delta: -2, batchId: held }),
      shop.line(product, "A-1", { delta: 2, batchId: shop.id[two] }),
    ];
    done(await shop.mutate("stockAdjust", { lines }));
    assert.deepEqual(await figures(product), {
      ...{ all: [12, 7, 5], hall: [6, 0, 1, 5], shed: [0, 0, 0, 0], returns: [6, 0, 6, 0] },
    });
  });

  it("stays where it is when a warehouse stops or starts to sell", async () => {
    await hold([one]);
    done(await sells("hall", false));
    assert.deepEqual((await figures(product)).all, [12, 12, 0]);
    done(await sells("returns", true));
    assert.deepEqual((await figures(product)).all, [12, 12, 0]);
    await release([one]);
    assert.deepEqual((await figures(product)).all, [12, 8, 4]);
    await hold([one]);
    done(await sells("returns", false));
    done(await sells("hall", true));
    assert.deepEqual((await figures(product)).all, [12, 9, 3]);
  });

  it("is put on hold and released in SQL, with the same figures", async () => {
    const set = (is: boolean, at: string) =>
      shop.sql(
        `update erp.batch set is_held = ${is}, held_at = ${at}, hold_reason = null where product_id = $1`,
        shop.id[product]!,
      );
    await set(true, "now()");
    assert.deepEqual(await figures(product), { all: [12, 12, 0], hall: [8, 0, 8, 0], returns: [4, 0, 4, 0] });
    await assertLedgerIsRight(shop);
    await set(false, "null");
    assert.deepEqual((await figures(product)).all, [12, 4, 8]);
    await assert.rejects(set(false, "now()"), /batch_is_held_since_a_moment/);
    await assert.rejects(
      shop.sql(`update erp.batch set hold_reason = 'Old' where product_id = $1`, shop.id[product]!),
      /batch_has_a_reason_only_on_hold/,
    );
    // The moment and the state follow
    await set(true, "null");
    const rows = await shop.sql(
      "select stock_state, held_at is null as lacks from erp.batch where product_id = $1",
      shop.id[product]!,
    );
    assert.deepEqual(rows, [
      { stock_state: "quality_control", lacks: false },
      { stock_state: "quality_control", lacks: false },
    ]);
    await assert.rejects(
      shop.sql("update erp.batch set held_at = null where product_id = $1", shop.id[product]!),
      /batch_is_held_since_a_moment/,
    );
  });

  it("goes with its product, and its warehouse when that is empty", async () => {
    await hold([one, two]);
    const refused = await shop.mutate("warehouseDelete", { id: shop.id.returns });
    assert.deepEqual(refusals(refused), [["WAREHOUSE_NOT_EMPTY", null]]);
    const { warehouse } = await shop.mutate(
      "warehouseCreate",
      { code: `W${made}`, name: "Short-lived" },
      { select: "warehouse { id }" },
    );
    shop.id.short = warehouse.id;
    done(await transfer(product, "R-1", "short", 4, one));
    assert.deepEqual((await figures(product))[`W${made}`], [4, 0, 4, 0]);
    done(await transfer(product, "short", "R-1", 4, one));
    done(await shop.mutate("warehouseDelete", { id: warehouse.id }));
    await assertLedgerIsRight(shop);
    await shop.sql("delete from erp.product where id = $1", shop.id[product]!);
  });

  it("is received, and comes back from a shipment that is cancelled", async () => {
    const order = await shop.order([{ product, quantity: 3 }], [{ lines: [[0, 3]] }]);
    const places = [{ place: { binLocationId: shop.id["A-1"] }, quantity: 3, batchId: shop.id[one] }];
    const [assigned] = order.fulfillmentOrders;
    const lines = [{ fulfillmentOrderLineItemId: assigned!.lines[0], quantity: 3, places }];
    const { fulfillment } = await shop.fulfill(assigned!, { lines });
    await hold([one]);
    assert.deepEqual((await figures(product)).hall, [5, 0, 2, 3]);
    done(await shop.cancel(fulfillment.id));
    assert.deepEqual((await figures(product)).hall, [8, 3, 5, 0]);

    const receipt = {
      type: "Free",
      warehouseId: shop.id.hall,
      lineItems: [{ productId: shop.id[product], quantity: 6, unitPrice: 1, batchId: shop.id[one] }],
    };
    const created = await shop.mutate("goodsReceiptCreate", receipt, { select: "goodsReceipt { id }" });
    done(created);
    done(await shop.mutate("goodsReceiptApprove", { id: created.goodsReceipt.id }));
    done(await shop.mutate("goodsReceiptComplete", { id: created.goodsReceipt.id }));
    assert.deepEqual(await figures(product), {
      ...{ all: [18, 15, 0], hall: [14, 3, 11, 0], returns: [4, 0, 4, 0] },
    });
  });
});

describe("a shipment", () => {
  it("that names a held batch is refused, and takes the other one", async () => {
    await shop.store(product, "A-1", 3, one);
    await shop.store(product, "A-1", 3, two);
    await hold([one], { reason: "Recall 7" });
    const order = await shop.order([{ product, quantity: 3 }], [{ lines: [[0, 3]] }]);
    const [assigned] = order.fulfillmentOrders;
    const from = (name: string) => {
      const places = [{ place: { binLocationId: shop.id["A-1"] }, quantity: 3, batchId: shop.id[name] }];
      return shop.fulfill(assigned!, {
        lines: [{ fulfillmentOrderLineItemId: assigned!.lines[0], quantity: 3, places }],
      });
    };
    const refused = await from(one);
    assert.deepEqual(refusals(refused), [["BATCH_HELD", "lines.0.places.0.batchId"]]);
    assert.equal(
      refused.userErrors[0].message,
      "Batch 1 is on hold. Name another one, or release it by batchRelease.",
    );
    assert.equal((await batch(one)).physicalStock, 3);
    done(await from(two));
    assert.deepEqual(await figures(product), { all: [3, 3, 0], hall: [3, 0, 3, 0] });
  });

  it("that lacks units says how many are on hold there, and offers none of other warehouses that are", async () => {
    await shop.store(product, "A-1", 3, one);
    await shop.store(product, "B-1", 9, one);
    await shop.store(product, "B-1", 2, two);
    await hold([one]);
    const order = await shop.order([{ product, quantity: 8 }], [{ lines: [[0, 8]] }]);
    const { userErrors } = await shop.ship(order);
    assert.deepEqual(refusals({ userErrors }), [["INSUFFICIENT_STOCK", "orderId"]]);
    assert.match(
      userErrors[0].message,
      / needed\. Of what lies there, 3 are on hold\. Other warehouses hold 2: /,
    );
  });
});

describe("units that orders wait for", () => {
  beforeEach(async () => {
    await shop.store(product, "A-1", 10, one);
    await shop.store(product, "B-1", 5, two);
    await shop.order([{ product, quantity: 8 }], [{ location: "hall", lines: [[0, 8]] }]);
  });

  it("are put on hold, with a warning about the product or the warehouse that lacks them", async () => {
    const { warnings } = await hold([two, one]);
    const message = `Orders wait for 8 units of product ${product}; 8 of them are missing now.`;
    const details = { productId: shop.id[product], reserved: 8, available: -8 };
    assert.deepEqual(warnings, [{ code: "STOCK_PROMISED", message, field: ["ids", "0"], details }]);
    assert.deepEqual(codes(await release([one, two])), []);
    await shop.store(product, "B-1", 5, two);
    const held = await hold([one]);
    assert.deepEqual(held.warnings, [
      {
        code: "STOCK_PROMISED",
        message: `Orders wait for 8 units of product ${product} from warehouse hall; 8 of them are missing now.`,
        field: ["ids", "0"],
        details: { ...details, warehouseId: shop.id.hall },
      },
    ]);
  });

  it("are missed no more when the held units are moved or disposed of", async () => {
    assert.deepEqual(codes(await hold([one])), ["STOCK_PROMISED"]);
    const options = { select: "warnings { code }" };
    const move = shop.move(product, "A-1", "B-1", { quantity: 4, batchId: shop.id[one] });
    assert.deepEqual(codes(await shop.mutate("stockTransfer", { lines: [move] }, options)), []);
    const waste = (name: string, place: string) =>
      shop.mutate(
        "stockAdjust",
        { lines: [shop.line(product, place, { delta: -1, batchId: shop.id[name] })] },
        options,
      );
    assert.deepEqual(codes(await waste(one, "A-1")), []);
    assert.deepEqual(codes(await waste(two, "B-1")), ["STOCK_PROMISED"]);
  });

  it("are not missed as long as there are enough others", async () => {
    await shop.store(product, "A-2", 8, two);
    assert.deepEqual(codes(await hold([one])), []);
  });
});

describe("batchHold and batchRelease", () => {
  it("take batches of several products, and tell of each batch and product once", async () => {
    const [other, three] = await newProduct();
    for (const [name, id] of [
      [product, one],
      [product, two],
      [other, three],
    ] as const)
      await shop.store(name, "A-1", 2, id);
    await sequence(shop.owner);
    const end = await endOfLog(shop.owner);
    const { batches } = await hold([two, three, one], { reason: "Recall" });
    assert.deepEqual(
      batches.map(({ id }: any) => id),
      [two, three, one].map(idOf),
    );
    await sequence(shop.owner);
    const told = (await logAfter(shop.owner, end)).map(({ topic, data, changed_fields: changed }) => [
      ...[topic, data.id, changed.toSorted(), data.holdReason ?? data.availableStock],
    ]);
    const held = (name: string) => [
      "batch.updated",
      shop.id[name],
      ["heldAt", "holdReason", "isHeld", "stockState"],
      "Recall",
    ];
    const short = (name: string) => [
      ...["product.updated", shop.id[name], ["availableStock", "stockNotAvailableForSale"], 0],
    ];
    const byName = (list: unknown[]) => list.map((entry) => JSON.stringify(entry)).sort();
    assert.deepEqual(byName(told), byName([held(one), held(two), held(three), short(product), short(other)]));
    // One of no stock, too
    const [, four] = await newProduct();
    assert.deepEqual(codes(await hold([four])), []);
    assert.deepEqual(codes(await release([four, three])), []);
  });

  it("refuse mistakes, and then change nothing", async () => {
    await hold([one]);
    const mistakes: [call: Promise<any>, ...refused: [code: string, field: string][]][] = [
      [hold([]), ["REQUIRED", "ids"]],
      [hold(Array.from({ length: 251 }, () => two)), ["TOO_MANY_LINES", "ids"]],
      [hold([two], { reason: "r".repeat(1_001) }), ["OUT_OF_RANGE", "reason"]],
      [
        hold([two, one, missingId("Batch"), two]),
        ["INVALID_STATE_TRANSITION", "ids.1"],
        ["NOT_FOUND", "ids.2"],
        ["NOT_UNIQUE", "ids.3"],
      ],
      [release([]), ["REQUIRED", "ids"]],
      [release([one, two]), ["INVALID_STATE_TRANSITION", "ids.1"]],
      [release([missingId("Batch")]), ["NOT_FOUND", "ids.0"]],
    ];
    for (const [call, ...expected] of mistakes) assert.deepEqual(refusals(await call), expected);
    assert.deepEqual([(await batch(one)).isHeld, (await batch(two)).isHeld], [true, false]);
    const [error] = (await hold([one])).userErrors;
    assert.equal(error.message, "Batch 1 is already on hold.");
    assert.deepEqual(error.details, { allowedActions: ["release"] });
    assert.equal((await release([two])).userErrors[0].message, "Batch 2 is not on hold.");
    assert.deepEqual(codes(await hold([two], { reason: "r".repeat(1_000) })), []);
  });

  it("repeat by key", async () => {
    const keyed = () => hold([one], { reason: "Once", idempotencyKey: `hold ${product}` });
    const first = await keyed();
    await release([one]);
    assert.deepEqual((await keyed()).userErrors, first.userErrors);
    assert.equal((await batch(one)).isHeld, false);
  });

  it("need their scope", async () => {
    const token = await shop.token({ read: "all", write: ["products", "stocks", "orders"] });
    for (const name of ["batchHold", "batchRelease"])
      assert.deepEqual((await shop.tryMutate(name, { ids: [shop.id[one]] }, { token })).codes, ["FORBIDDEN"]);
    const own = await shop.token({ read: ["batches"], write: ["batches"] });
    done(await hold([one], {}, { token: own }));
  });
});

it("held batches are listed, the latest first", async () => {
  await hold([one, two]);
  await shop.owner.query(
    `update erp.batch set held_at = held_at - interval '1 day' where id = '${uuidOf(shop.id[one]!)}'`,
  );
  const { product: shown } = await shop.read(
    `query ($id: ID!) { product(id: $id) { batches(filter: { heldAt: { isNull: false } }, orderBy: HELD_AT_DESC) {
       edges { node { number isHeld } } } } }`,
    { id: shop.id[product] },
  );
  assert.deepEqual(
    shown.batches.edges.map(({ node }: any) => node),
    [
      { number: "2", isHeld: true },
      { number: "1", isHeld: true },
    ],
  );
});
