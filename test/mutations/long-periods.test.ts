import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { ValuationShop } from "../lib/valuation-shop.ts";
import { openValuationShop } from "../lib/valuation-shop.ts";

// How long a calculation takes follows from numbers of the ledger, which are moved here
describe("a period of too many movements", () => {
  let shop: ValuationShop;
  before(async () => {
    shop = await openValuationShop();
    await shop.buy("hammer", 10, 2);
    await shop.passDays(5);
    await shop.buy("nail", 3, 1);
    await shop.passDays(5);
  });
  after(async () => {
    await shop.owner.query(
      `update ledger.movement_sequence s set sequence = n.number
       from (select m.movement_id, row_number() over (order by m.sequence) as number from ledger.movement_sequence m) n
       where n.movement_id = s.movement_id`,
    );
    await shop.close();
  });

  /** Gives the newest movement a later number. */
  const widen = (by: number) =>
    shop.owner.query(
      `update ledger.movement_sequence s set sequence = s.sequence + $1
       where s.sequence = (select max(m.sequence) from ledger.movement_sequence m)`,
      [by],
    );

  it("is refused before it is calculated, with the day to close first", async () => {
    // Each receipt has two movements
    await widen(400_001 - 4);
    const { stockValuationReport, userErrors } = await shop.draft(1);
    assert.equal(stockValuationReport, null);
    assert.deepEqual(
      userErrors.map(({ code, field }: any) => [code, field]),
      [["PERIOD_TOO_LONG", ["referenceDate"]]],
    );
    assert.deepEqual(userErrors[0].details, { maximum: 400_000, referenceDate: shop.day(6) });
  });

  it("can be closed in parts", async () => {
    assert.equal((await shop.report(6)).value, 20);
    assert.equal((await shop.report(1)).value, 23);
  });

  it("is refused for a draft that has become too long, and without a day if there is none between", async () => {
    const { stockValuationReports } = await shop.read(
      "{ stockValuationReports { edges { node { id value } } } }",
    );
    const { node: last } = stockValuationReports.edges.find(({ node }: any) => node.value === 23);
    assert.ok((await shop.void(last.id)).stockValuationReport.voidedAt);
    const { stockValuationReport: draft } = await shop.draft(1);
    await widen(10);
    const { userErrors } = await shop.closeReport(draft.id);
    assert.equal(userErrors[0].code, "PERIOD_TOO_LONG");
    assert.deepEqual(userErrors[0].field, ["id"]);
    assert.deepEqual(userErrors[0].details, { maximum: 400_000 });
  });

  it("has no maximum in SQL, where time is not limited", async () => {
    await shop.sql("select valuation.create_report((now() - interval '1 day')::date)");
    assert.equal((await shop.sql("select from valuation.report where closed_at is null")).length, 1);
  });
});
