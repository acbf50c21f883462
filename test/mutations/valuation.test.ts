import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sequence } from "../events/support.ts";
import { closed } from "../db/valued.ts";
import { missingId, uuidOf } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { openShop, refusals } from "../lib/shop.ts";

let shop: Shop;
before(async () => (shop = await openShop()));
after(() => shop.close());

const rows = async (text: string, values: unknown[] = []): Promise<any[]> =>
  (await shop.owner.query(text, values)).rows;
const value = async (product: string, method = "moving_average") => {
  await sequence(shop.owner);
  const [found] = await rows(
    `select quantity::int, trim_scale(value)::text as value from valuation.states($1,
       (select max(sequence) from ledger.movement_sequence), array[$2]::uuid[])`,
    [method, uuidOf(shop.id[product]!)],
  );
  return found && `${found.quantity} × ${found.value}`;
};
/** A product of its own, known by its number. */
async function make(number: string, more = {}): Promise<void> {
  const { products } = await shop.mutate(
    "productsUpsert",
    { products: [{ productNumber: number, ...more }] },
    { select: "products { id grossWeight }" },
  );
  shop.id[number] = products[0].id;
}
/** Receives goods at prices, and returns the id of the completed receipt. */
async function receive(lines: [product: string, quantity: number, price: number | null][], more = {}) {
  const lineItems = lines.map(([product, quantity, unitPrice]) => ({
    productId: shop.id[product],
    quantity,
    ...(unitPrice === null ? {} : { unitPrice }),
  }));
  const input = { type: "Free", warehouseId: shop.id.hall, lineItems, ...more };
  const { goodsReceipt } = await shop.mutate("goodsReceiptCreate", input, { select: "goodsReceipt { id }" });
  for (const step of ["goodsReceiptApprove", "goodsReceiptComplete"])
    assert.deepEqual((await shop.mutate(step, { id: goodsReceipt.id })).userErrors, []);
  await sequence(shop.owner);
  return goodsReceipt.id as string;
}
async function adjust(product: string, delta: number): Promise<string> {
  const { stockMovements } = await shop.mutate("stockAdjust", {
    lines: [shop.line(product, "hall", { delta })],
  });
  await sequence(shop.owner);
  return stockMovements[0].id;
}
const setOpening = (lines: object[]) =>
  shop.mutate(
    "stockOpeningValuesSet",
    { lines },
    { select: "stockOpeningValues { unitValue updatedAt product { productNumber } stockMovement { id } }" },
  );
const allocate = (goodsReceiptId: string, amount: string, more = {}) =>
  shop.mutate(
    "landedCostAllocate",
    { goodsReceiptId, amount, basis: "by_value", ...more },
    { select: "landedCosts { amount day note product { productNumber } goodsReceipt { id } }" },
  );
const writeDown = (product: string, more: object) =>
  shop.mutate(
    "stockWriteDown",
    { productId: shop.id[product], reason: "Out of fashion", ...more },
    { select: "writeDown { amount day reason product { productNumber } }" },
  );
const setMethod = (method: string, startsOn: string) =>
  shop.mutate(
    "valuationMethodSet",
    { method, startsOn },
    { select: "valuationMethodSetting { method startsOn }" },
  );
const parts = ({ landedCosts }: any) =>
  Object.fromEntries(landedCosts.map(({ amount, product }: any) => [product.productNumber, Number(amount)]));

/** Closes the period up to a day, as a report does, and undoes that afterwards. */
async function whileClosed(day: string, work: () => Promise<void>): Promise<void> {
  const [{ id }] = await rows(
    `insert into valuation.report (reference_date, sequence, method)
     select $1, max(sequence), 'moving_average' from ledger.movement_sequence returning id`,
    [day],
  );
  await rows(closed, [id]);
  try {
    await work();
  } finally {
    await shop.owner.query(`begin; alter table valuation.report disable trigger user;
      delete from valuation.report; alter table valuation.report enable trigger user; commit`);
  }
}
const [today, yesterday, tomorrow] = [0, -1, 1].map((days) =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10),
) as [string, string, string];

describe("stockOpeningValuesSet", () => {
  it("gives units a value that came from nowhere, which may be zero or change", async () => {
    await make("found");
    const [first, second] = [await adjust("found", 4), await adjust("found", 2)];
    const answer = await setOpening([
      { stockMovementId: second, unitValue: "0" },
      { stockMovementId: first, unitValue: "2.5" },
    ]);
    assert.deepEqual(answer.userErrors, []);
    assert.deepEqual(
      answer.stockOpeningValues.map(({ unitValue, stockMovement, product }: any) => [
        Number(unitValue),
        stockMovement.id,
        product.productNumber,
      ]),
      [
        [0, second, "found"],
        [2.5, first, "found"],
      ],
    );
    assert.equal(await value("found"), "6 × 10");
    const again = await setOpening([{ stockMovementId: first, unitValue: "3" }]);
    assert.notEqual(again.stockOpeningValues[0].updatedAt, null);
    assert.equal(await value("found"), "6 × 12");
  });

  it("refuses mistakes by line and field", async () => {
    await make("mistaken");
    const good = await adjust("mistaken", 4);
    const out = await adjust("mistaken", -1);
    const mistakes: [lines: object[], code: string, field: string][] = [
      [[], "REQUIRED", "lines"],
      [Array(251).fill({ stockMovementId: good, unitValue: "1" }), "TOO_MANY_LINES", "lines"],
      [
        [{ stockMovementId: missingId("StockMovement"), unitValue: "1" }],
        "NOT_FOUND",
        "lines.0.stockMovementId",
      ],
      [[{ stockMovementId: out, unitValue: "1" }], "INVALID", "lines.0.stockMovementId"],
      [[{ stockMovementId: good, unitValue: "-0.01" }], "OUT_OF_RANGE", "lines.0.unitValue"],
      [[{ stockMovementId: good, unitValue: "1000000000" }], "OUT_OF_RANGE", "lines.0.unitValue"],
      [[{ stockMovementId: good, unitValue: "0.0000001" }], "OUT_OF_RANGE", "lines.0.unitValue"],
      [
        [
          { stockMovementId: good, unitValue: "1" },
          { stockMovementId: good, unitValue: "2" },
        ],
        "NOT_UNIQUE",
        "lines.1.stockMovementId",
      ],
    ];
    for (const [lines, code, field] of mistakes)
      assert.deepEqual(refusals(await setOpening(lines)), [[code, field]], `${code} ${field}`);
    await whileClosed(yesterday, async () => {
      const late = await setOpening([{ stockMovementId: good, unitValue: "1" }]);
      assert.deepEqual(refusals(late), [["PERIOD_CLOSED", "lines.0.stockMovementId"]]);
      const open = await adjust("mistaken", 1);
      assert.deepEqual((await setOpening([{ stockMovementId: open, unitValue: "1" }])).userErrors, []);
    });
    assert.equal((await rows("select from valuation.opening_value v where v.unit_value = 2")).length, 0);
  });
});

describe("landedCostAllocate", () => {
  it("divides costs by value, quantity or weight", async () => {
    await make("light", { grossWeight: 0.5 });
    await make("heavy", { grossWeight: 2.5 });
    const receipt = await receive([
      ["light", 10, 2],
      ["heavy", 2, 3],
      ["heavy", 2, 7],
    ]);
    const answer = await allocate(receipt, "12", { note: "Freight 7" });
    assert.deepEqual(answer.userErrors, []);
    assert.deepEqual(parts(answer), { light: 6, heavy: 6 });
    const [{ day, note, goodsReceipt }] = answer.landedCosts;
    assert.deepEqual([day, note, goodsReceipt.id], [today, "Freight 7", receipt]);
    assert.deepEqual(parts(await allocate(receipt, "7", { basis: "by_quantity" })), { light: 5, heavy: 2 });
    assert.deepEqual(parts(await allocate(receipt, "3", { basis: "by_weight" })), { light: 1, heavy: 2 });
    const one = await allocate(receipt, "1.25", { productIds: [shop.id.light], currencyId: shop.id.USD });
    assert.deepEqual(parts(one), { light: 1 });
    assert.equal(await value("light"), "10 × 33");
    assert.equal(await value("heavy"), "4 × 30");
    await adjust("light", -4);
    const thirds = await allocate(receipt, "1", { basis: "by_quantity" });
    assert.deepEqual(parts(thirds), { light: 0.714286, heavy: 0.285714 });
  });

  it("takes back what was allocated, and no more", async () => {
    await make("taken back");
    const receipt = await receive([["taken back", 4, 1]]);
    await allocate(receipt, "2");
    assert.equal(await value("taken back", "fifo"), "4 × 6");
    assert.deepEqual(refusals(await allocate(receipt, "-2.01")), [["OUT_OF_RANGE", "amount"]]);
    assert.deepEqual((await allocate(receipt, "-2")).userErrors, []);
    assert.equal(await value("taken back", "fifo"), "4 × 4");
  });

  it("counts before the goods are put away, and not in drafts", async () => {
    await make("awaited");
    const lineItems = [{ productId: shop.id.awaited, quantity: 4, unitPrice: 1 }];
    const input = { type: "Free", warehouseId: shop.id.hall, lineItems };
    const { goodsReceipt } = await shop.mutate("goodsReceiptCreate", input, {
      select: "goodsReceipt { id }",
    });
    assert.deepEqual(refusals(await allocate(goodsReceipt.id, "2")), [
      ["INVALID_STATE_TRANSITION", "goodsReceiptId"],
    ]);
    await shop.mutate("goodsReceiptApprove", { id: goodsReceipt.id });
    await sequence(shop.owner);
    assert.deepEqual((await allocate(goodsReceipt.id, "2")).userErrors, []);
    const gone = await shop.mutate("goodsReceiptDelete", { id: goodsReceipt.id });
    assert.deepEqual(refusals(gone), [["REFERENCE_IN_USE", null]]);
    await shop.mutate("goodsReceiptComplete", { id: goodsReceipt.id });
    assert.equal(await value("awaited"), "4 × 6");
  });

  it("refuses mistakes", async () => {
    await make("plain");
    await make("free");
    const receipt = await receive([
      ["plain", 4, 1],
      ["free", 1, 0],
    ]);
    const unpriced = await receive([["plain", 1, null]]);
    const mistakes: [answer: Promise<any>, code: string, field: string][] = [
      [allocate(missingId("GoodsReceipt"), "1"), "NOT_FOUND", "goodsReceiptId"],
      [allocate(receipt, "1", { currencyId: missingId("Currency") }), "NOT_FOUND", "currencyId"],
      [allocate(receipt, "0"), "OUT_OF_RANGE", "amount"],
      [allocate(receipt, "1000000000"), "OUT_OF_RANGE", "amount"],
      [allocate(receipt, "0.0000001"), "OUT_OF_RANGE", "amount"],
      [allocate(receipt, "1", { basis: "by_weight" }), "INVALID", "basis"],
      [allocate(unpriced, "1"), "PRICE_MISSING", "basis"],
      [allocate(receipt, "1", { productIds: [shop.id.free] }), "INVALID", "basis"],
      [allocate(receipt, "1", { productIds: [shop.id.plain, shop.id.nail] }), "INVALID", "productIds.1"],
      [
        allocate(receipt, "1", { productIds: Array(251).fill(shop.id.plain) }),
        "TOO_MANY_LINES",
        "productIds",
      ],
      [allocate(receipt, "1", { note: "n".repeat(1001) }), "OUT_OF_RANGE", "note"],
      [allocate(receipt, "1", { day: tomorrow }), "OUT_OF_RANGE", "day"],
    ];
    for (const [answer, code, field] of mistakes)
      assert.deepEqual([...new Set(refusals(await answer).map(String))], [`${code},${field}`]);
    await whileClosed(yesterday, async () => {
      assert.deepEqual(refusals(await allocate(receipt, "1", { day: yesterday })), [
        ["PERIOD_CLOSED", "day"],
      ]);
      assert.deepEqual((await allocate(receipt, "1")).userErrors, []);
    });
    const [{ count }] = await rows(
      "select count(*)::int from valuation.landed_cost where goods_receipt_id in ($1, $2)",
      [uuidOf(receipt), uuidOf(unpriced)],
    );
    assert.equal(count, 1);
  });
});

describe("stockWriteDown", () => {
  it("lowers the value by an amount or to a value of a unit, and raises it again", async () => {
    await make("old");
    await receive([["old", 4, 10]]);
    const answer = await writeDown("old", { amount: "5.5" });
    assert.deepEqual(answer.userErrors, []);
    const { amount, product, ...rest } = answer.writeDown;
    assert.deepEqual(
      [Number(amount), product.productNumber, rest],
      [5.5, "old", { day: today, reason: "Out of fashion" }],
    );
    assert.equal(await value("old"), "4 × 34.5");
    assert.equal(Number((await writeDown("old", { unitValue: "2" })).writeDown.amount), 26.5);
    assert.equal(await value("old"), "4 × 8");
    assert.equal(Number((await writeDown("old", { unitValue: "10" })).writeDown.amount), -32);
    assert.equal(await value("old", "fifo"), "4 × 40");
  });

  it("refuses mistakes", async () => {
    await make("new");
    await receive([["new", 2, 10]]);
    await make("unpriced");
    await receive([["unpriced", 2, null]]);
    const mistakes: [product: string, more: object, code: string, field: string][] = [
      ["new", { amount: "20.01" }, "OUT_OF_RANGE", "amount"],
      ["new", { amount: "-0.01" }, "OUT_OF_RANGE", "amount"],
      ["new", { unitValue: "10.01" }, "OUT_OF_RANGE", "unitValue"],
      ["new", { unitValue: "-1" }, "OUT_OF_RANGE", "unitValue"],
      ["new", { amount: "0.0000001" }, "OUT_OF_RANGE", "amount"],
      ["new", { amount: "0" }, "INVALID", "amount"],
      ["new", { unitValue: "10" }, "INVALID", "unitValue"],
      ["new", {}, "INVALID", "unitValue"],
      ["new", { amount: "1", unitValue: "1" }, "INVALID", "amount"],
      ["new", { amount: "1", reason: " " }, "INVALID", "reason"],
      ["new", { amount: "1", reason: "r".repeat(1001) }, "OUT_OF_RANGE", "reason"],
      ["new", { amount: "1", day: tomorrow }, "OUT_OF_RANGE", "day"],
      ["unpriced", { amount: "1" }, "PRICE_MISSING", "productId"],
    ];
    for (const [product, more, code, field] of mistakes)
      assert.deepEqual(refusals(await writeDown(product, more)), [[code, field]], JSON.stringify(more));
    shop.id.missing = missingId("Product");
    assert.deepEqual(refusals(await writeDown("missing", { amount: "1" })), [["NOT_FOUND", "productId"]]);
    await whileClosed(yesterday, async () => {
      assert.deepEqual(refusals(await writeDown("new", { amount: "1", day: yesterday })), [
        ["PERIOD_CLOSED", "day"],
      ]);
    });
    assert.equal(await value("new"), "2 × 20");
  });

  it("counts at the end of the day that it names", async () => {
    await make("dated");
    await receive([["dated", 2, 10]]);
    await rows("alter table ledger.stock_movement disable trigger user");
    await rows("update ledger.stock_movement set created_at = created_at - interval '3 days'");
    await rows("update ledger.booking set booked_at = booked_at - interval '3 days'");
    await rows("alter table ledger.stock_movement enable trigger user");
    const [{ last }] = await rows("select max(sequence) as last from ledger.movement_sequence");
    await adjust("dated", -2);
    assert.deepEqual(refusals(await writeDown("dated", { amount: "4" })), [["OUT_OF_RANGE", "amount"]]);
    assert.equal((await writeDown("dated", { amount: "4", day: yesterday })).writeDown.day, yesterday);
    const [found] = await rows(
      "select w.sequence, w.day::text from valuation.write_down w order by id desc limit 1",
    );
    assert.deepEqual(found, { sequence: last, day: yesterday });
    const early = await writeDown("dated", { amount: "1", day: "2020-01-01" });
    assert.deepEqual(refusals(early), [["OUT_OF_RANGE", "amount"]]); // there was nothing yet
  });
});

describe("valuationMethodSet", () => {
  it("sets the method from a day on, and changes it until the day is closed", async () => {
    const on = async (day: string) =>
      (await rows("select valuation.method_on($1) as method", [day]))[0].method;
    assert.equal(await on("2020-01-01"), "moving_average");
    const { valuationMethodSetting } = await setMethod("fifo", "2020-01-01");
    assert.deepEqual(valuationMethodSetting, { method: "fifo", startsOn: "2020-01-01" });
    await setMethod("period_average", tomorrow);
    await setMethod("period_average", "2020-01-01");
    assert.deepEqual(
      [await on("2019-12-31"), await on(yesterday), await on(tomorrow)],
      ["moving_average", "period_average", "period_average"],
    );
    await whileClosed(yesterday, async () => {
      assert.deepEqual(refusals(await setMethod("fifo", yesterday)), [
        ["METHOD_CHANGE_IN_CLOSED_PERIOD", "startsOn"],
      ]);
      assert.deepEqual((await setMethod("fifo", today)).userErrors, []);
    });
    assert.deepEqual(refusals(await setMethod("fifo", "1899-12-31")), [["OUT_OF_RANGE", "startsOn"]]);
    await rows("delete from valuation.method");
  });
});

for (const [name, input] of Object.entries({
  stockOpeningValuesSet: () => ({ lines: [{ stockMovementId: missingId("StockMovement"), unitValue: "1" }] }),
  landedCostAllocate: () => ({ goodsReceiptId: missingId("GoodsReceipt"), amount: "1", basis: "by_value" }),
  stockWriteDown: () => ({ productId: missingId("Product"), amount: "1", reason: "Scope" }),
  valuationMethodSet: () => ({ method: "fifo", startsOn: "1899-12-31" }),
}))
  it(`${name} is forbidden without its scope`, async () => {
    const token = await shop.token({ read: "all", write: ["products", "stocks", "goods_receipts"] });
    assert.deepEqual((await shop.tryMutate(name, input(), { token, select: "__typename" })).codes, [
      "FORBIDDEN",
    ]);
    const own = await shop.token({ read: ["valuation"], write: ["valuation"] });
    const { codes } = await shop.tryMutate(name, input(), { token: own, select: "__typename" });
    assert.deepEqual(codes ?? [], []);
  });
