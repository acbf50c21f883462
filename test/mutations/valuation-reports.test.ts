import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import { missingId } from "../lib/ids.ts";
import { refusals } from "../lib/shop.ts";
import type { ValuationShop } from "../lib/valuation-shop.ts";
import { openValuationShop, reportFields } from "../lib/valuation-shop.ts";

const nodesOf = (list: any): any[] => list.edges.map(({ node }: any) => node);
const linesOf = (report: any) =>
  nodesOf(report.lines).map((line) => [
    line.productNumber,
    line.warehouseCode,
    line.quantity,
    line.unitCost,
    line.value,
  ]);
const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

/** The hash of the lines, by the rules of docs/guides/valuation.md. */
const linesHash = (report: any): string => {
  const lines = nodesOf(report.lines).map(
    (line) =>
      `${JSON.stringify([line.productNumber, line.warehouseCode, String(line.quantity), line.value.toFixed(2)])}\n`,
  );
  return sha256(lines.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).join(""));
};

/** The hash of a report, by the rules of docs/guides/valuation.md. */
const hashOf = (report: any, replaced: number | null = null): string =>
  sha256(
    JSON.stringify([
      "stock valuation report 1",
      String(report.number),
      report.referenceDate,
      String(report.sequence),
      report.method,
      report.currencyCode,
      String(report.quantity),
      report.value.toFixed(2),
      report.closedAt.replace("+00:00", "Z"),
      replaced === null ? null : String(replaced),
      linesHash(report),
      report.stateHash,
      report.previousHash,
    ]),
  );

async function reportNow(shop: ValuationShop, id: string): Promise<any> {
  const query = `query ($id: ID!) { stockValuationReport(id: $id) { ${reportFields} } }`;
  return (await shop.read(query, { id })).stockValuationReport;
}

describe("a draft", () => {
  let shop: ValuationShop;
  before(async () => {
    shop = await openValuationShop();
    await shop.buy("hammer", 10, 2);
    await shop.buy("nail", 3, 0.3333);
    await shop.passDays(20);
  });
  after(() => shop.close());

  it("is of a day that is over", async () => {
    for (const daysAgo of [0, -1])
      assert.deepEqual(refusals(await shop.draft(daysAgo)), [["INVALID", "referenceDate"]]);
    assert.deepEqual((await shop.draft(1)).userErrors, []);
  });

  it("has the value of the day's end by product and warehouse, and no number and hash", async () => {
    await shop.sell("hammer", 4);
    const { stockValuationReport: then } = await shop.draft(1);
    assert.deepEqual(linesOf(then), [
      ["hammer", "hall", 10, 2, 20],
      ["nail", "hall", 3, 0.3333, 1],
    ]);
    assert.deepEqual([then.value, then.quantity, then.currencyCode], [21, 13, "EUR"]);
    assert.deepEqual([then.number, then.hash, then.closedAt], [null, null, null]);
  });

  it("takes the place of the draft before", async () => {
    const { stockValuationReport: first } = await shop.draft(3);
    const { stockValuationReport: second } = await shop.draft(2);
    assert.equal(await reportNow(shop, first.id), null);
    assert.equal((await reportNow(shop, second.id)).referenceDate, shop.day(2));
    assert.deepEqual(refusals(await shop.closeReport(first.id)), [["NOT_FOUND", "id"]]);
    assert.deepEqual(refusals(await shop.void(second.id)), [["INVALID_STATE_TRANSITION", "id"]]);
  });
});

describe("closing", () => {
  let shop: ValuationShop;
  before(async () => (shop = await openValuationShop()));
  after(() => shop.close());

  it("numbers reports in the order of their days and chains their hashes", async () => {
    await shop.buy("hammer", 3, 1.0033);
    await shop.buy("nail", 3, 1.0033);
    await shop.passDays(7);
    const first = await shop.report(12);
    assert.deepEqual([first.number, first.value, linesOf(first), first.previousHash], [1, 0, [], null]);
    const second = await shop.report(7);
    await shop.sell("hammer", 2);
    await shop.passDays(3);
    const third = await shop.report(3);
    assert.deepEqual([second.number, third.number], [2, 3]);
    assert.deepEqual([second.previousHash, third.previousHash], [first.hash, second.hash]);
    assert.deepEqual([second.value, third.value], [6.02, 4.01]);
    for (const report of [first, second, third]) {
      assert.equal(report.linesHash, linesHash(report));
      assert.equal(report.hash, hashOf(report));
      assert.deepEqual((await reportNow(shop, report.id)).hash, report.hash);
    }
  });

  it("rounds lines such that they add up to the total", async () => {
    const report = await reportNow(shop, await idOf(shop, 2));
    // Each is worth 3.0099, both 6.0198
    assert.deepEqual(linesOf(report), [
      ["hammer", "hall", 3, 1.0033, 3.01],
      ["nail", "hall", 3, 1.0033, 3.01],
    ]);
  });

  it("is refused for days that are closed, and for reports that are", async () => {
    for (const daysAgo of [3, 4, 400])
      assert.deepEqual(refusals(await shop.draft(daysAgo)), [["PERIOD_CLOSED", "referenceDate"]]);
    assert.deepEqual(refusals(await shop.closeReport(await idOf(shop, 3))), [["PERIOD_CLOSED", "id"]]);
    const missing = missingId("StockValuationReport");
    assert.deepEqual(refusals(await shop.closeReport(missing)), [["NOT_FOUND", "id"]]);
  });

  it("is told by an event with day, value and hash", async () => {
    await sequence(shop.owner);
    const end = await endOfLog(shop.owner);
    const report = await shop.report(2);
    await sequence(shop.owner);
    const [event, ...others] = await logAfter(shop.owner, end);
    assert.deepEqual([event.topic, others], ["stock_valuation_report.closed", []]);
    const { number, referenceDate, value, hash } = event.data;
    assert.deepEqual(
      [number, referenceDate, Number(value), hash],
      [4, shop.day(2), report.value, report.hash],
    );
  });
});

describe("a missing price", () => {
  let shop: ValuationShop;
  before(async () => (shop = await openValuationShop()));
  after(() => shop.close());

  it("keeps the report from being closed, until it is given", async () => {
    const priced = await shop.buy("nail", 5, 2);
    const receipt = await shop.buy("hammer", 5, null);
    await shop.passDays(4);
    const { stockValuationReport: draft } = await shop.draft(2);
    assert.equal(draft.faultCount, 1);
    assert.deepEqual(nodesOf(draft.faults), [
      { code: "PRICE_MISSING", product: { productNumber: "hammer" }, goodsReceipt: { id: receipt } },
    ]);
    const refused = await shop.closeReport(draft.id);
    assert.deepEqual(refusals(refused), [["PRICE_MISSING", "id"]]);
    const { count, faults } = refused.userErrors[0].details;
    assert.deepEqual([count, faults[0].productNumber], [1, "hammer"]);
    assert.equal((await reportNow(shop, draft.id)).closedAt, null);

    await shop.sql(
      "update erp.goods_receipt_line_item set unit_price = 0 where goods_receipt_id = $1",
      receipt,
    );
    const { stockValuationReport: closed, userErrors } = await shop.closeReport(draft.id);
    assert.deepEqual(userErrors, []);
    // Nothing is a price
    assert.deepEqual(linesOf(closed), [
      ["hammer", "hall", 5, 0, 0],
      ["nail", "hall", 5, 2, 10],
    ]);
    assert.ok(priced);
  });
});

describe("a void report", () => {
  let shop: ValuationShop;
  let receipt: string;
  before(async () => {
    shop = await openValuationShop();
    await shop.buy("nail", 1, 1);
    await shop.passDays(10);
    receipt = await shop.buy("hammer", 10, 2, { currencyId: shop.id.USD });
    await shop.passDays(10);
  });
  after(() => shop.close());
  const change = (currencyFactor: number) =>
    shop.mutate("goodsReceiptUpdate", { id: receipt, currencyFactor });
  const setPrice = (price: number) =>
    shop.sql(
      `update erp.goods_receipt_line_item set unit_price = ${price} where goods_receipt_id = $1`,
      receipt,
    );

  it("locks exchange rate, prices and lines of the receipts that it counts, until it is void", async () => {
    await shop.report(15);
    assert.deepEqual((await change(2)).userErrors, [], "no report counts the receipt yet");
    const report = await shop.report(9);
    assert.equal(report.value, 11);
    assert.deepEqual(refusals(await change(4)), [["CURRENCY_FACTOR_LOCKED", "currencyFactor"]]);
    await assert.rejects(() => setPrice(3), /closed stock valuation report counts/);
    for (const change of [
      "update erp.goods_receipt_line_item set quantity = 11 where goods_receipt_id = $1",
      "delete from erp.goods_receipt_line_item where goods_receipt_id = $1",
      "insert into erp.goods_receipt_line_item (goods_receipt_id, quantity) values ($1, 1)",
      "update erp.goods_receipt set tax_status = 'gross' where id = $1",
    ])
      await assert.rejects(() => shop.sql(change, receipt), /closed stock valuation report counts/, change);

    const { stockValuationReport: gone, userErrors } = await shop.void(report.id);
    assert.deepEqual(userErrors, []);
    assert.deepEqual([gone.voidReason, gone.hash, gone.successor], ["A price was wrong", report.hash, null]);
    assert.ok(gone.voidedAt);
    assert.deepEqual((await change(4)).userErrors, []);
    await setPrice(8);
  });

  it("stays readable, and its successor names it and continues the chain", async () => {
    const successor = await shop.report(9);
    assert.deepEqual([successor.number, successor.value], [3, 21]);
    const gone = await reportNow(shop, await idOf(shop, 2));
    assert.deepEqual([gone.value, gone.successor], [11, { number: 3 }]);
    assert.equal(successor.previousHash, gone.hash);
    assert.equal(successor.hash, hashOf(successor, 2));
    assert.equal(gone.hash, hashOf(gone));
    assert.deepEqual(refusals(await change(5)), [["CURRENCY_FACTOR_LOCKED", "currencyFactor"]]);
  });

  it("was the newest: no other can become void", async () => {
    const [first, second] = [await idOf(shop, 1), await idOf(shop, 2)];
    assert.deepEqual(refusals(await shop.void(first)), [["PERIOD_CLOSED", "id"]]);
    assert.deepEqual(refusals(await shop.void(second)), [["INVALID_STATE_TRANSITION", "id"]]);
    assert.deepEqual(refusals(await shop.void(missingId("StockValuationReport"))), [["NOT_FOUND", "id"]]);
    const third = await idOf(shop, 3);
    assert.deepEqual(refusals(await shop.void(third, " ")), [["REQUIRED", "reason"]]);
    assert.deepEqual(refusals(await shop.void(third, "r".repeat(1001))), [["OUT_OF_RANGE", "reason"]]);
    assert.deepEqual((await shop.void(third)).userErrors, []);
    assert.deepEqual(refusals(await shop.void(first)), [["PERIOD_CLOSED", "id"]], "not one after another");
  });
});

describe("late entries", () => {
  let shop: ValuationShop;
  before(async () => (shop = await openValuationShop()));
  after(() => shop.close());

  it("go into the open period, which lists them", async () => {
    await shop.buy("hammer", 10, 2);
    await shop.passDays(10);
    assert.deepEqual(nodesOf((await shop.report(8)).lateEntries), []);
    // Counted on a day that is closed now
    const line = shop.line("hammer", "hall", { quantity: 7, countedAt: `${shop.day(9)}T12:00:00Z` });
    assert.deepEqual((await shop.mutate("stockSet", { lines: [line] })).userErrors, []);
    // Booked before midnight and committed after the report was closed
    await shop.store("hammer", "hall", -1);
    await shop.sql(`alter table ledger.stock_movement disable trigger user;
      update ledger.stock_movement set created_at = created_at - interval '8 days' where quantity = 1;
      update ledger.booking b set booked_at = booked_at - interval '8 days'
      where exists (select from ledger.stock_movement m where m.booking_id = b.id and m.quantity = 1);
      alter table ledger.stock_movement enable trigger user`);
    await shop.store("hammer", "hall", -2);
    await sequence(shop.owner);
    const { stockValuationReport: next } = await shop.draft(1);
    assert.equal(next.quantity, 10, "all were booked or numbered today");
    await shop.passDays(2);
    const report = await shop.report(1);
    assert.deepEqual([report.quantity, report.value, report.lateEntryCount], [4, 8, 2]);
    assert.deepEqual(
      nodesOf(report.lateEntries)
        .map(({ day, quantity, value }) => [day, quantity, value])
        .sort(),
      [
        [shop.day(11), -3, -6],
        [shop.day(10), -1, -2],
      ],
    );
  });
});

/** The id of the report with a number. */
async function idOf(shop: ValuationShop, number: number): Promise<string> {
  const query = `query ($number: Int!) { stockValuationReports(filter: { number: { equals: $number } }) { edges { node { id } } } }`;
  return nodesOf((await shop.read(query, { number })).stockValuationReports)[0].id;
}
