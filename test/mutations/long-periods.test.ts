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
  after(() => shop.close());

  const widen = (by: number) =>
    shop.sql(
      `update ledger.movement_sequence s set sequence = s.sequence + $1 from ledger.stock_movement m
       where m.id = s.movement_id and m.created_at > now() - interval '7 days'`,
      by as never,
    );

  it("is refused before it is calculated, with the day to close first", async () => {
    await widen(400_000);
    const { stockValuationReport, userErrors } = await shop.draft(1);
    assert.equal(stockValuationReport, null);
    assert.deepEqual(
      userErrors.map(({ code, field }: any) => [code, field]),
      [["PERIOD_TOO_LONG", ["input", "referenceDate"]]],
    );
    assert.deepEqual(userErrors[0].details, { maximum: 400_000, referenceDate: shop.day(6) });
  });

  it("can be closed in parts", async () => {
    assert.equal((await shop.report(6)).value, 20);
    assert.equal((await shop.report(1)).value, 23);
  });

  it("is refused for a draft that has become too long, and without a day if there is none between", async () => {
    await shop.buy("nail", 1, 1);
    await shop.sql(
      `alter table ledger.stock_movement disable trigger user;
       update ledger.stock_movement set created_at = created_at - interval '1 day' where created_at > now() - interval '1 hour';
       alter table ledger.stock_movement enable trigger user`,
    );
    await shop.sql("select set_config('statement_timeout', '0', false)");
    const { stockValuationReport: report } = await shop.void((await newest()).id);
    assert.ok(report.voidedAt);
    const { stockValuationReport: draft } = await shop.draft(1);
    await widen(400_000);
    const { userErrors } = await shop.closeReport(draft.id);
    assert.equal(userErrors[0].code, "PERIOD_TOO_LONG");
    assert.deepEqual(userErrors[0].field, ["input", "id"]);
    assert.deepEqual(userErrors[0].details, { maximum: 400_000 });
  });

  it("has no maximum in SQL, where time is not limited", async () => {
    await shop.sql("select valuation.create_report((now() - interval '1 day')::date)");
    assert.equal((await shop.sql("select from valuation.report where closed_at is null")).length, 1);
  });

  async function newest(): Promise<any> {
    const { stockValuationReports } = await shop.read(
      "{ stockValuationReports(first: 250) { edges { node { id number } } } }",
    );
    return stockValuationReports.edges
      .map(({ node }: any) => node)
      .sort((a: any, b: any) => b.number - a.number)[0];
  }
});
