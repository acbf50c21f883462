import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeTasks } from "../../src/jobs/tasks.ts";
import { runOn, startCommand } from "../commands/process.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";
import { Queue, startTestJobs } from "./support.ts";

const rowCount = 3_000;

let database: TestDatabase;
let queue: Queue;
before(async () => {
  database = await openTestDatabase("template_schema");
  queue = new Queue(database.ownerUrl);
  // Each row takes a while, so that the work can be interrupted
  await queue.owner.query(`
    create table erp.reading (number integer primary key, doubled integer);
    alter table erp.reading enable row level security;
    insert into erp.reading (number) select generate_series(1, ${rowCount});
    analyze erp.reading;
    select api_meta.backfill('doubled', 'erp.reading', '{doubled}',
      '(select 2 * number from pg_sleep(0.0005 + 0 * number))', 'doubled is null')`);
});
after(async () => {
  await queue.owner.end();
  await database.close();
});

const progress = async () => (await queue.owner.query("select * from api_meta.backfill_progress")).rows[0];
const command = (...options: string[]) => runOn(database.adminUrl, ["db", "backfill", ...options]);

test("the service fills what migrations have declared; killed, others continue where it was", async () => {
  const service = startCommand(["start"], { DATABASE_URL: database.loginUrl, LOG_LEVEL: "info" });
  await until(async () => Number((await progress()).rows_seen) > 0);
  service.kill("SIGKILL");
  await service.ended;
  const { rows_seen: before, state } = await progress();
  assert.equal(state, "works");
  assert.ok(Number(before) < rowCount);
  const { stdout } = await command();
  assert.match(
    stdout,
    /^backfill doubled works, \d+ %: \d+ of about 3000 rows of erp\.reading seen, \d+ filled\n$/,
  );
  // The killed one still holds its job, as far as the queue knows
  const worker = startTestJobs(database.loginUrl, makeTasks({ exchangeRatesFrom: undefined }), {
    atStart: ["backfill"],
  });
  await until(async () => (await progress()).state === "ended");
  await until(() => worker.log.some(({ backfill }) => backfill?.state === "ended"));
  await worker.stop();
  const { rows_seen: seen, rows_filled: filled } = await progress();
  // No row was filled twice, and none left out
  assert.deepEqual([Number(seen), Number(filled)], [rowCount, rowCount]);
  const { rows } = await queue.owner.query(
    "select from erp.reading where doubled is distinct from 2 * number",
  );
  assert.equal(rows.length, 0);
  const told = worker.log.find(({ backfill }) => backfill?.state === "ended");
  assert.match(told.msg, /^backfill doubled ended: 3000 rows of erp\.reading seen, 3000 filled$/);
});

test("erp db backfill works it off where no service runs, and says what fails", async () => {
  await queue.owner.query("update erp.reading set doubled = null where number <= 10");
  await queue.owner.query(
    "select api_meta.backfill('doubled', 'erp.reading', '{doubled}', '2 * number', 'doubled is null')",
  );
  const done = await command("--run");
  assert.equal(done.exitCode, 0, done.stderr);
  assert.match(done.stdout, /^backfill doubled ended: 3000 rows of erp\.reading seen, 10 filled\n$/);
  await queue.owner.query("update erp.reading set doubled = null where number = 7");
  await queue.owner.query(
    "select api_meta.backfill('doubled', 'erp.reading', '{doubled}', '1 / (number - 7)', 'doubled is null')",
  );
  const failed = await command("--run");
  assert.equal(failed.exitCode, 1);
  assert.match(failed.stderr, /backfill doubled fails.*division by zero \(in a batch of 100\)/);
});
