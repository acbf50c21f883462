import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

// The process that a call names, and what each process may be used for
let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop({ poolSize: 8 });
});
after(() => shop.close());
beforeEach(() => shop.empty());
afterEach(() => assertLedgerIsRight(shop));

const select =
  "stockMovements { quantity processTypeTechnicalName sourceSpecialStockLocationTechnicalName " +
  "destinationSpecialStockLocationTechnicalName } stocks { quantity } warnings { code }";
const adjust = (delta: number, more = {}) =>
  shop.mutate("stockAdjust", { lines: [shop.line("nail", "A-1", { delta })], ...more }, { select });
const count = (quantity: number, rest = {}, more = {}) =>
  shop.mutate("stockSet", { lines: [shop.line("nail", "A-1", { quantity, ...rest })], ...more }, { select });
const move = (quantity: number, more = {}) =>
  shop.mutate("stockTransfer", { lines: [shop.move("nail", "A-1", "A-2", { quantity })], ...more });
const processes = ({ stockMovements, userErrors }: any) => {
  assert.deepEqual(userErrors, []);
  return stockMovements.map((m: any) => m.processTypeTechnicalName);
};
const specials = ({ stockMovements }: any) =>
  stockMovements.map(
    (m: any) => m.sourceSpecialStockLocationTechnicalName ?? m.destinationSpecialStockLocationTechnicalName,
  );
const messages = ({ userErrors }: any) =>
  userErrors.map((e: any) => [e.code, e.field.join("."), e.message, e.details]);

describe("a process that a call names", () => {
  it("books lines whose direction it fits; without one, the processes of the call do", async () => {
    assert.deepEqual(processes(await adjust(5)), ["api_incoming"]);
    assert.deepEqual(processes(await adjust(5, { processType: "incoming" })), ["incoming"]);
    assert.deepEqual(processes(await adjust(-1, { processType: "outgoing" })), ["outgoing"]);
    assert.deepEqual(processes(await adjust(1, { processType: "csv_import_incoming" })), [
      "csv_import_incoming",
    ]);
    assert.deepEqual(processes(await move(1, { processType: "relocation" })), ["relocation"]);
    assert.deepEqual(processes(await move(1)), ["api_relocation"]);
    assert.deepEqual(processes(await count(20, {}, { processType: "stocktaking" })), ["stocktaking"]);
    assert.equal(await shop.stockAt("nail", "A-1"), 20);
  });

  it("is refused, with those that fit, when it is unknown or is for something else", async () => {
    const incoming = ["api_incoming", "csv_import_incoming", "incoming"];
    assert.deepEqual(messages(await adjust(5, { processType: "outgoing" })), [
      [
        "INVALID",
        "processType",
        "The process outgoing does not fit. For units that come in there are api_incoming, csv_import_incoming, incoming.",
        { fitting: incoming },
      ],
    ]);
    assert.deepEqual(messages(await adjust(-5, { processType: "magic" })), [
      [
        "NOT_FOUND",
        "processType",
        "There is no process magic. For units that go out there are api_outgoing, csv_import_outgoing, outgoing.",
        { fitting: ["api_outgoing", "csv_import_outgoing", "outgoing"] },
      ],
    ]);
    const both = {
      lines: [shop.line("nail", "A-1", { delta: 2 }), shop.line("hammer", "A-1", { delta: -1 })],
      processType: "incoming",
    };
    assert.deepEqual(refusals(await shop.mutate("stockAdjust", both)), [["INVALID", "processType"]]);
    for (const processType of ["incoming", "supplier_order", "relocation", "csv_import_incoming"])
      assert.deepEqual(refusals(await count(1, {}, { processType })), [["INVALID", "processType"]]);
    assert.deepEqual(refusals(await move(1, { processType: "shipping" })), [["INVALID", "processType"]]);
    assert.equal(await shop.movements(), 0);
  });

  it("ships orders", async () => {
    await shop.store("nail", "A-1", 10);
    const automatic = await shop.order([{ product: "nail", quantity: 2 }]);
    assert.deepEqual(processes(await shop.ship(automatic, { processType: "shipped_automatically" })), [
      "shipped_automatically",
    ]);
    const order = await shop.order([{ product: "nail", quantity: 3 }], [{ lines: [[0, 3]] }]);
    const [part] = order.fulfillmentOrders;
    assert.deepEqual(refusals(await shop.fulfill(part!, { processType: "relocation" })), [
      ["INVALID", "processType"],
    ]);
    assert.deepEqual(refusals(await shop.ship(order, { processType: "unheard_of" })), [
      ["NOT_FOUND", "processType"],
    ]);
    assert.deepEqual(processes(await shop.fulfill(part!, { processType: "shipping" })), ["shipping"]);
    assert.equal(await shop.stockAt("nail", "A-1"), 5);
  });

  it("warns nobody of promises that a shipment keeps, whatever its process", async () => {
    await shop.store("nail", "A-1", 2);
    await shop.order([{ product: "nail", quantity: 1 }]);
    const order = await shop.order([{ product: "nail", quantity: 2 }]);
    const { data } = (
      await shop.tryMutate(
        "orderShipmentComplete",
        { orderId: order.id, processType: "shipping" },
        { select: "warnings { code }" },
      )
    ).body;
    assert.deepEqual(data.orderShipmentComplete, { warnings: [], userErrors: [] });
  });
});

describe("a process that somebody adds in SQL", () => {
  before(() =>
    shop.owner.query(`insert into ledger.process_type (technical_name, uses)
      values ('kitting', '{incoming,outgoing}'), ('rfid', '{count}'), ('legacy', default)`),
  );

  it("may be named for what its row says", async () => {
    const lines = [shop.line("nail", "A-1", { delta: 9 }), shop.line("hammer", "A-1", { delta: 1 })];
    await shop.mutate("stockAdjust", { lines, processType: "kitting" });
    lines[1] = shop.line("hammer", "A-1", { delta: -1 });
    const both = await shop.mutate("stockAdjust", { lines, processType: "kitting" });
    assert.deepEqual(processes(both), ["kitting", "kitting"]);
    assert.match((await adjust(1, { processType: "legacy" })).userErrors[0].message, /incoming, kitting\.$/);
    assert.deepEqual(refusals(await move(1, { processType: "kitting" })), [["INVALID", "processType"]]);
  });

  it("can require a reason, also of calls that are booked together", async () => {
    await shop.owner.query(
      "update ledger.process_type set requires_reason = true where technical_name = 'kitting'",
    );
    assert.deepEqual(refusals(await adjust(1, { processType: "kitting" })), [["REQUIRED", "reason"]]);
    const given = { processType: "kitting", reason: "production" };
    const made = await Promise.all(Array.from({ length: 20 }, (_, n) => adjust(1, n % 2 ? given : {})));
    assert.deepEqual(made.flatMap(processes).sort(), [
      ...Array.from({ length: 10 }, () => "api_incoming"),
      ...Array.from({ length: 10 }, () => "kitting"),
    ]);
    assert.equal(await shop.stockAt("nail", "A-1"), 20);
    await assert.rejects(
      shop.owner.query(
        "update ledger.process_type set requires_reason = true where technical_name = 'legacy'",
      ),
      /process_type_can_require_a_reason/,
    );
  });

  it("can't be for what nobody knows", () =>
    assert.rejects(
      shop.owner.query("insert into ledger.process_type (technical_name, uses) values ('odd', '{flying}')"),
      /process_type_uses_are_known/,
    ));
});

describe("a count by a process of its own", () => {
  it("is a count like any other: late ones don't take its correction for goods", async () => {
    await adjust(10);
    const first = await shop.ago("0");
    const second = await shop.ago("0");
    // 8 were there; two are missing
    const counted = await count(8, { countedAt: second }, { processType: "rfid" });
    assert.deepEqual([processes(counted), specials(counted)], [["rfid"], ["count_correction"]]);
    // The same goods were counted a moment earlier, which changes nothing
    const late = await count(8, { countedAt: first });
    assert.deepEqual(
      [late.stockMovements, late.stocks, late.warnings],
      [[], [{ quantity: 8 }], [{ code: "COUNT_SUPERSEDED" }]],
    );
    const again = await count(8, { countedAt: second }, { processType: "rfid" });
    assert.deepEqual([again.stockMovements, again.warnings], [[], []]);
    const stocktaking = await count(9, {}, { processType: "stocktaking" });
    assert.deepEqual(specials(stocktaking), ["stock_correction"]);
  });

  it("keeps its count when another program inserts the correction", async () => {
    await adjust(10);
    await shop.owner.query(
      `insert into ledger.stock_movement (product_id, quantity, source_location_type_technical_name, source_bin_location_id,
         destination_location_type_technical_name, destination_special_stock_location_technical_name, process_type_technical_name)
       select p.id, 3, 'bin_location', b.id, 'special_stock_location', 'count_correction', 'rfid'
       from erp.product p, erp.bin_location b where p.product_number = 'nail' and b.code = 'A-1'`,
    );
    const { rows } = await shop.owner.query(
      "select quantity, difference from ledger.stock_count order by id",
    );
    assert.deepEqual(rows.at(-1), { quantity: 7, difference: -3 });
    assert.equal(await shop.stockAt("nail", "A-1"), 7);
  });
});
