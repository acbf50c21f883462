import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import pg from "pg";
import { fillAll, fillNextBatch } from "../../src/migrations/backfills.ts";
import { queryRows, useDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

const maxRows = 100;
const silently = () => {};

describe("a backfill", () => {
  const used = useDatabase("template_schema");
  const rows = queryRows(() => used.client);
  before(async () => {
    await rows(`
      create table erp.reading (place text, number integer, value text, doubled integer, half numeric,
        primary key (place, number));
      insert into erp.reading (place, number, value) select 'p ' || n % 3, n, n from generate_series(1, 1000) n`);
  });

  const declare = (name: string, columns: string, expression: string, condition: string) =>
    rows("select api_meta.backfill($1, 'erp.reading', $2, $3, $4)", [name, columns, expression, condition]);
  const progress = async (name: string) =>
    (await rows("select * from api_meta.backfill_progress where name = $1", [name]))[0];
  const left = async (condition: string) =>
    Number((await rows(`select count(*) from erp.reading where ${condition}`))[0].count);
  const doubled = ["{doubled}", "value::integer * 2", "doubled is null"] as const;

  test("fills batches in the order of a key of several columns, and says how far it is", async () => {
    await declare("doubled", "{doubled,half}", "value::integer * 2, value::numeric / 2", "doubled is null");
    assert.equal((await progress("doubled")).state, "waits");
    const first = await fillNextBatch(used.client, maxRows);
    assert.deepEqual([first!.rowsSeen, first!.rowsFilled, first!.state], [100, 100, "works"]);
    assert.equal(await left("doubled is not null"), 100);
    assert.equal(await left("doubled is not null and place <> 'p 0'"), 0);
    await fillAll(used.client, silently, maxRows);
    assert.equal(await left("doubled = value::integer * 2 and half = value::numeric / 2"), 1000);
    assert.equal((await progress("doubled")).state, "ended");
    assert.equal(await fillNextBatch(used.client, maxRows), null);
  });

  test("leaves rows that are filled already, and touches no row twice", async () => {
    await rows("update erp.reading set doubled = null where number % 10 = 0");
    await declare("doubled", ...doubled);
    await fillAll(used.client, silently, maxRows);
    const { rows_seen: seen, rows_filled: filled } = await progress("doubled");
    assert.deepEqual([seen, filled], ["1000", "100"]);
  });

  test("doesn't wait for rows that others hold, comes back to them, and waits for one alone at last", async () => {
    await rows("update erp.reading set doubled = null");
    await declare("doubled", ...doubled);
    const other = new pg.Client({ connectionString: used.database.ownerUrl });
    await other.connect();
    await other.query("begin; update erp.reading set half = 1 where place = 'p 0' and number in (3, 60)");
    const first = await fillNextBatch(used.client, maxRows);
    // The others of the batch are filled, but it isn't done beyond the first row of all
    assert.deepEqual([first!.rowsSeen, first!.rowsFilled], [0, 98]);
    await used.client.query("set lock_timeout = '50ms'");
    for (let times = 0; times < 3; times++) await fillNextBatch(used.client, maxRows);
    assert.deepEqual(
      [(await progress("doubled")).rows_filled, (await progress("doubled")).state],
      ["98", "works"],
    );
    await used.client.query("set lock_timeout = 0");
    const waiting = fillNextBatch(used.client, maxRows);
    await until(async () => (await other.query("select from pg_locks where not granted")).rowCount! > 0);
    await other.query("commit");
    await other.end();
    assert.equal((await waiting)!.rowsSeen, 1);
    await fillAll(used.client, silently, maxRows);
    assert.equal(await left("doubled is null"), 0);
  });

  test("makes batches smaller when they take longer than they may, and larger again", async () => {
    const sizes = async () => (await rows("select batch_rows from api_meta.backfill"))[0].batch_rows;
    await rows("update erp.reading set doubled = null");
    await declare("doubled", "{doubled}", "(select 1 from pg_sleep(0.002 + 0 * number))", "doubled is null");
    await fillNextBatch(used.client, 1000, 20);
    assert.ok((await sizes()) <= 12, String(await sizes()));
    await declare("doubled", ...doubled);
    await fillNextBatch(used.client, 1000, 1000);
    assert.equal(await sizes(), 200);
    await fillAll(used.client, silently, maxRows);
  });

  test("names the row at which it fails, and continues when that is mended", async () => {
    await rows(
      "update erp.reading set doubled = null; update erp.reading set value = 'x' where number = 500",
    );
    await declare("doubled", ...doubled);
    await assert.rejects(
      fillAll(used.client, silently, maxRows),
      /doubled.*invalid input syntax for type integer: "x"/,
    );
    const failing = async () => (await fillNextBatch(used.client, maxRows))!.failure;
    const alone = 'invalid input syntax for type integer: "x" (in a batch of 1 after the key {"p 2",497})';
    await until(async () => (await failing()) === alone);
    await rows("update erp.reading set value = '500' where number = 500");
    await fillAll(used.client, silently, maxRows);
    assert.equal(await left("doubled is null"), 0);
  });

  test("is refused when it could not work, at once", async () => {
    await rows("create table erp.keyless (a integer, b integer)");
    await assert.rejects(
      rows("select api_meta.backfill('keyless', 'erp.keyless', '{b}', 'a', 'b is null')"),
      /erp\.keyless has no primary key/,
    );
    await assert.rejects(declare("wrong", "{tripled}", "1", "true"), /column "tripled" .* does not exist/);
    await assert.rejects(declare("wrong", "{doubled}", "valeu", "true"), /column "valeu" does not exist/);
    assert.equal(await progress("wrong"), undefined);
  });

  test("a migration that requires it works off few rows itself, and refuses many, and rows written without it", async () => {
    const required = () => rows("select api_meta.require_backfilled('doubled')");
    await rows("update erp.reading set doubled = null");
    await declare("doubled", ...doubled);
    await required();
    assert.equal(await left("doubled is null"), 0);
    await rows(
      "insert into erp.reading (place, number, value) select 'q', n, n from generate_series(1, 20000) n",
    );
    await assert.rejects(
      required(),
      /The backfill doubled has ended, but 1000 rows or more of erp\.reading still/,
    );
    await declare("doubled", ...doubled);
    await rows("update api_meta.backfill set batch_rows = 10");
    await rows("analyze erp.reading");
    await assert.rejects(
      required(),
      /The backfill doubled of erp\.reading has not ended: \d+ of about 21000 rows are done\./,
    );
    await assert.rejects(
      rows("select api_meta.require_backfilled('none')"),
      /No migration has declared the backfill none/,
    );
  });

  test("can be declared by the owner alone", async () => {
    for (const role of ["service_worker", "service_api", "service_writer"]) {
      await used.client.query(`begin; set local role ${role}`);
      await assert.rejects(declare("mine", ...doubled), /permission denied/);
      await used.client.query("rollback");
    }
  });
});
