import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { urlAsRole } from "../../../src/postgres/roles.ts";
import { UserError } from "../../../src/errors/user-error.ts";
import { importRates } from "../../../src/jobs/exchange-rates/import.ts";
import { temporaryFolder } from "../../commands/process.ts";
import { openTestDatabase } from "../../lib/database.ts";
import type { TestDatabase } from "../../lib/database.ts";
import { listOf, oneDay } from "./lists.ts";

let database: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let owner: pg.Client;
let worker: pg.Client;
before(async () => {
  folder = await temporaryFolder();
  database = await openTestDatabase("template_schema");
  owner = new pg.Client({ connectionString: database.ownerUrl });
  worker = new pg.Client({ connectionString: urlAsRole(database.loginUrl, "service_worker") });
  await Promise.all([owner.connect(), worker.connect()]);
});
afterEach(() => owner.query("truncate erp.exchange_rate; delete from erp.currency"));
after(async () => {
  await Promise.all([owner.end(), worker.end()]);
  await database.close();
  await folder.remove();
});

/** Makes currencies; the first is the default. */
async function makeCurrencies(...codes: string[]): Promise<void> {
  await owner.query(
    `insert into erp.currency (iso_code, symbol, name, short_name, factor, is_default_currency)
     select code, code, jsonb_build_object('en-GB', code), jsonb_build_object('en-GB', code), case when n = 1 then 1 else 7 end, n = 1
     from unnest($1::text[]) with ordinality as c (code, n)`,
    [codes],
  );
}

async function importList(list: string) {
  const from = join(folder.path, "rates.xml");
  await writeFile(from, list);
  return importRates({ from, query: (text, values) => worker.query(text, values) });
}

/** Stored rates, as "day currency factor". */
async function stored(): Promise<string[]> {
  const { rows } = await owner.query(
    `select concat_ws(' ', r.reference_date, c.iso_code, r.factor) as line from erp.exchange_rate r
     join erp.currency c on c.id = r.currency_id where r.source = 'ecb' order by 1`,
  );
  return rows.map(({ line }) => line);
}

const assertRefused = (work: Promise<unknown>, message: RegExp) =>
  assert.rejects(work, (error: Error) => {
    assert.ok(error instanceof UserError, error.stack);
    assert.match(error.message, message);
    return true;
  });

test("rates of currencies that the system knows are stored as they were published", async () => {
  await makeCurrencies("EUR", "USD", "CHF", "SEK");
  assert.deepEqual(await importList(oneDay), [{ date: "2026-06-01", published: 4, known: 2 }]);
  assert.deepEqual(await stored(), ["2026-06-01 CHF 0.95", "2026-06-01 USD 1.1"]);
});

test("the currencies' own factors stay as they are", async () => {
  await makeCurrencies("EUR", "USD");
  await importList(oneDay);
  const { rows } = await owner.query("select factor from erp.currency where iso_code = 'USD'");
  assert.equal(rows[0].factor, "7");
});

test("many days are stored at once", async () => {
  await makeCurrencies("EUR", "USD", "GBP");
  const days = { "2026-06-02": { USD: "1.2", GBP: "0.8" }, "2026-06-01": { USD: "1.1" } };
  assert.deepEqual(await importList(listOf(days)), [
    { date: "2026-06-01", published: 1, known: 1 },
    { date: "2026-06-02", published: 2, known: 2 },
  ]);
  assert.deepEqual(await stored(), ["2026-06-01 USD 1.1", "2026-06-02 GBP 0.8", "2026-06-02 USD 1.2"]);
});

test("with another default currency they are crossed", async () => {
  await makeCurrencies("USD", "EUR", "CHF", "JPY");
  await importList(listOf({ "2026-06-01": { USD: "1.25", CHF: "0.95", JPY: "161.85" } }));
  assert.deepEqual(await stored(), ["2026-06-01 CHF 0.76", "2026-06-01 EUR 0.8", "2026-06-01 JPY 129.48"]);
});

test("a quotient without an end keeps 16 digits that count", async () => {
  await makeCurrencies("JPY", "EUR");
  await importList(listOf({ "2026-06-01": { JPY: "161.85" } }));
  const [line] = await stored();
  assert.match(line!, /^2026-06-01 EUR 0\.0061785603954278\d*$/);
});

test("the same day again changes nothing", async () => {
  await makeCurrencies("EUR", "USD");
  const before = await importList(oneDay);
  await owner.query("update erp.exchange_rate set imported_at = '2026-06-01 15:00Z'");
  assert.deepEqual(await importList(oneDay), before);
  const { rows } = await owner.query("select factor, imported_at from erp.exchange_rate");
  assert.deepEqual(rows, [{ factor: "1.1", imported_at: new Date("2026-06-01T15:00Z") }]);
});

test("a corrected day replaces the rates that differ", async () => {
  await makeCurrencies("EUR", "USD", "GBP");
  await importList(oneDay);
  await owner.query("update erp.exchange_rate set imported_at = '2026-06-01 15:00Z'");
  await importList(oneDay.replace("1.1", "1.2"));
  assert.deepEqual(await stored(), ["2026-06-01 GBP 0.85", "2026-06-01 USD 1.2"]);
  const { rows } = await owner.query(
    "select factor from erp.exchange_rate where imported_at > '2026-06-01 15:00Z'",
  );
  assert.deepEqual(rows, [{ factor: "1.2" }]);
});

test("two imports of the same days at once don't hinder each other", async () => {
  await makeCurrencies("EUR", "USD", "GBP", "CHF");
  const other = new pg.Client({ connectionString: urlAsRole(database.loginUrl, "service_worker") });
  await other.connect();
  const from = join(folder.path, "rates.xml");
  await writeFile(from, oneDay);
  await Promise.all(
    [worker, other, worker, other].map((client) =>
      importRates({ from, query: (text, values) => client.query(text, values) }),
    ),
  );
  await other.end();
  assert.equal((await stored()).length, 3);
});

test("without the default currency in the list nothing is stored, and the error says so", async () => {
  await makeCurrencies("SEK", "USD", "EUR");
  const days = { "2026-06-01": { USD: "1.1", SEK: "11" }, "2026-06-02": { USD: "1.1" } };
  await assertRefused(
    importList(listOf(days)),
    /rates of 2026-06-02 have none for SEK, the default currency/,
  );
  assert.deepEqual(await stored(), []);
});

test("a system without a default currency says so", async () => {
  await assertRefused(importList(oneDay), /has no default currency/);
});

test("of a list with a fault nothing is stored", async () => {
  await makeCurrencies("EUR", "USD");
  const days = { "2026-06-01": { USD: "1.1" }, "2026-06-02": { USD: "-1.1" } };
  await assertRefused(importList(listOf(days)), /This is no list of exchange rates/);
  assert.deepEqual(await stored(), []);
});

for (const [what, call] of Object.entries({
  "a text for a number": `'2026-06-01', '{"USD": "1.1"}', 'ecb'`,
  "a number of zero": `'2026-06-01', '{"USD": 0}', 'ecb'`,
  null: `'2026-06-01', '{"USD": null}', 'ecb'`,
  "a list": `'2026-06-01', '[1.1]', 'ecb'`,
  "a single number": `'2026-06-01', '1.1', 'ecb'`,
  "no rates": `'2026-06-01', null, 'ecb'`,
  "no day": `null, '{"USD": 1.1}', 'ecb'`,
  "no source": `'2026-06-01', '{"USD": 1.1}', ' '`,
})) {
  test(`the function itself refuses ${what}`, async () => {
    await makeCurrencies("EUR", "USD");
    await assert.rejects(worker.query(`select erp.import_exchange_rates(${call})`), {
      code: "P0001",
      message: /need a day, a source, and an object/,
    });
  });
}
