import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { urlAsRole } from "../../../src/postgres/roles.ts";
import { useDatabase } from "../../lib/database.ts";

// The demonstration shop has rates of each working day up to Friday, 29 May 2026
describe("erp.exchange_rate_on", () => {
  const used = useDatabase("template_demo");

  /** The day and source of the rate at a moment; null when there is none. */
  async function rateOn(moment: string, currency = "USD"): Promise<string | null> {
    const { rows } = await used.client.query(
      `select concat_ws(' ', e.reference_date, e.source, e.factor = r.factor) as rate
       from erp.currency c, erp.exchange_rate_on(c.id, $1) e
       left join erp.exchange_rate r on r.reference_date = e.reference_date
       where c.iso_code = $2 and r.currency_id = c.id and r.source = e.source`,
      [moment, currency],
    );
    return rows[0]?.rate ?? null;
  }

  for (const [what, moment, day] of [
    ["that day's", "2026-05-28 12:00Z", "2026-05-28"],
    ["that day's from its first moment", "2026-05-28 00:00Z", "2026-05-28"],
    ["that day's until its last, by UTC", "2026-05-29 01:59:59+02", "2026-05-28"],
    ["Friday's on a Saturday", "2026-05-23 12:00Z", "2026-05-22"],
    ["Friday's on a Sunday", "2026-05-24 23:59Z", "2026-05-22"],
    ["the newest, when it is seven days old", "2026-06-05 23:59Z", "2026-05-29"],
  ]) {
    it(`is ${what}`, async () => assert.equal(await rateOn(moment!), `${day} ecb t`));
  }

  for (const [what, moment, currency] of [
    ["when the newest is older than seven days", "2026-06-06 00:00Z", "USD"],
    ["before the first", "2024-06-02 12:00Z", "USD"],
    ["for the default currency", "2026-05-28 12:00Z", "EUR"],
  ]) {
    it(`is none ${what}`, async () => assert.equal(await rateOn(moment!, currency), null));
  }

  it("is the one imported last, when two have published for the same day", async () => {
    await used.client.query(
      "insert into erp.exchange_rate (currency_id, reference_date, factor, source) select id, '2026-05-28', 3, 'another' from erp.currency where iso_code = 'USD'",
    );
    assert.equal(await rateOn("2026-05-28 12:00Z"), "2026-05-28 another t");
  });

  it("can be asked by functions that run as service_writer, and by no other role", async () => {
    const { rows: roles } = await used.client.query<{ role: string }>(
      `select rolname as role from pg_roles where rolname like 'service\\_%'
         and has_function_privilege(oid, 'erp.exchange_rate_on(uuid, timestamptz)', 'execute') order by 1`,
    );
    assert.deepEqual(
      roles.map(({ role }) => role),
      ["service_owner", "service_writer"],
    );
    const { rows: currencies } = await used.client.query(
      "select id from erp.currency where iso_code = 'CHF'",
    );
    const writer = new pg.Client({ connectionString: urlAsRole(used.database.adminUrl, "service_writer") });
    await writer.connect();
    const { rows } = await writer.query("select * from erp.exchange_rate_on($1, $2)", [
      currencies[0].id,
      "2026-05-28 12:00Z",
    ]);
    await writer.end();
    assert.equal(rows.length, 1);
  });
});
