import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { crontabOf } from "../../src/jobs/crontab.ts";
import { tasksOf } from "../../src/jobs/tasks.ts";
import { startCommand, temporaryFolder } from "../commands/process.ts";
import type { CommandProcess } from "../commands/process.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";
import { oneDay } from "./exchange-rates/lists.ts";
import { Queue, startTestJobs } from "./support.ts";

// The service as a process, on the demonstration shop, which has old lines without prices
let database: TestDatabase;
let queue: Queue;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let list: string;
let service: CommandProcess | undefined;
before(async () => {
  folder = await temporaryFolder();
  list = join(folder.path, "rates.xml");
  await writeFile(list, oneDay);
  database = await openTestDatabase("template_demo");
  queue = new Queue(database.ownerUrl);
});
afterEach(async () => {
  service?.kill("SIGKILL");
  await service?.ended;
  service = undefined;
});
after(async () => {
  await queue.owner.end();
  await database.close();
  await folder.remove();
});

async function start(
  settings: Record<string, string> = {},
): Promise<{ service: CommandProcess; address: string }> {
  service = startCommand(["start.ts"], { DATABASE_URL: database.loginUrl, LOG_LEVEL: "info", ...settings });
  const [, address] = await service.said(/The API is at (http:\S+?)\/api/);
  return { service, address: address! };
}

async function stop(service: CommandProcess): Promise<void> {
  service.kill("SIGINT");
  assert.equal(await service.ended, 0, service.output());
}

async function count(table: string, condition: string): Promise<number> {
  const { rowCount } = await queue.owner.query(`select from ${table} where ${condition}`);
  return rowCount!;
}

const workersConnections = () =>
  count("pg_stat_activity", "datname = current_database() and application_name = 'worker'");
const emptyPrices = () =>
  count(
    "erp.goods_receipt_line_item l join erp.goods_receipt r on r.id = l.goods_receipt_id",
    "l.unit_price is not null and l.unit_price_in_default_currency is null and r.currency_factor is not null",
  );

test("with WORKER_CONCURRENCY=0 the service leaves background work to others", async () => {
  assert.ok((await emptyPrices()) > 0);
  const { service } = await start({ WORKER_CONCURRENCY: "0" });
  assert.equal(await workersConnections(), 0);
  await stop(service);
  assert.deepEqual(await queue.jobs(), []);
});

test("the service fills in old prices when it starts, and stops cleanly", async () => {
  const { service } = await start();
  await service.said(/a job is done[^]*a job is done/);
  assert.equal(await emptyPrices(), 0);
  assert.ok((await workersConnections()) <= 4);
  await stop(service);
  await until(async () => (await workersConnections()) === 0);
  assert.deepEqual(await queue.jobs(), []);
  assert.doesNotMatch(service.output(), /"level":[456]0/);
});

test("a service that may not import rates leaves such a job to one that may", async () => {
  await queue.add("import_exchange_rates");
  const { service: without } = await start();
  await without.said(/a job is done[^]*a job is done/);
  await stop(without);
  assert.equal((await queue.jobs()).length, 1);
  assert.equal(await count("erp.exchange_rate", "reference_date = '2026-06-01'"), 0);
  const { service: withRates } = await start({ EXCHANGE_RATES_FROM: list });
  await withRates.said(/import_exchange_rates.*a job is done/);
  await stop(withRates);
  assert.equal(await count("erp.exchange_rate", "reference_date = '2026-06-01'"), 3);
});

test("a failing import is logged with its job, and the service continues", async () => {
  await queue.add("import_exchange_rates");
  const { service, address } = await start({ EXCHANGE_RATES_FROM: join(folder.path, "none.xml") });
  const [line] = await service.said(/^\{.*a job failed.*(?=\n)/m);
  const { level, job, err } = JSON.parse(line);
  assert.deepEqual([level, job.task, job.attempts], [50, "import_exchange_rates", 1]);
  assert.match(err.message, /there is no such file/);
  assert.equal((await fetch(`${address}/healthz`)).status, 200);
  await stop(service);
  await queue.clear();
});

test("cut off from Postgres and back, the service answers and works again", async (t) => {
  const proxy = await openCuttableProxy(database.loginUrl);
  t.after(() => proxy.close());
  const { service, address } = await start({ DATABASE_URL: proxy.url, EXCHANGE_RATES_FROM: list });
  await service.said(/a job is done/);
  proxy.cut();
  await service.said(/background work can't begin; trying again/);
  assert.equal((await fetch(`${address}/healthz`)).status, 503);
  proxy.mend();
  await until(async () => (await fetch(`${address}/healthz`)).status === 200);
  await queue.add("import_exchange_rates");
  await until(async () => (await queue.jobs()).length === 0);
  await stop(service);
});

test("stopped while it is cut off from Postgres, the service ends in order", async (t) => {
  const proxy = await openCuttableProxy(database.loginUrl);
  t.after(() => proxy.close());
  const { service } = await start({ DATABASE_URL: proxy.url });
  await service.said(/a job is done/);
  proxy.cut();
  await stop(service);
});

test("rates are imported every day in the afternoon, and once after a pause of any length", async () => {
  const settings = { exchangeRatesFrom: list };
  const options = { crontab: crontabOf(settings) };
  const tasks = tasksOf(settings);
  const known = () =>
    count("graphile_worker._private_known_crontabs", "identifier = 'import_exchange_rates'");
  // The tests above have started these services
  assert.equal(await known(), 1);
  await queue.owner.query(
    `update graphile_worker._private_known_crontabs set known_since = now() - interval '9 days', last_execution = now() - interval '8 days';
     delete from erp.exchange_rate where reference_date = '2026-06-01'`,
  );
  const worker = startTestJobs(database.loginUrl, tasks, options);
  await until(() =>
    worker.log.some(({ msg, job }) => msg === "a job is done" && job.task === "import_exchange_rates"),
  );
  await worker.stop();
  assert.equal(await count("erp.exchange_rate", "reference_date = '2026-06-01'"), 3);
  const { rows } = await queue.owner.query(
    "select to_char(last_execution at time zone 'UTC', 'HH24:MI') as time, now() - last_execution <= interval '1 day' as is_newest from graphile_worker._private_known_crontabs where identifier = 'import_exchange_rates'",
  );
  assert.deepEqual(rows, [{ time: "16:20", is_newest: true }]);
  await queue.clear();
});

test("nothing is imported unless it is asked for", () => {
  assert.deepEqual(Object.keys(tasksOf({ exchangeRatesFrom: undefined })), [
    "backfill",
    "fill_default_currency_prices",
    "prune_events",
    "prune_webhook_attempts",
    "prune_idempotency_keys",
    "prune_bulk_operations",
    "prune_use_counts",
    "prune_operations",
    "prune_audit",
    "erase_retired_keys",
  ]);
  assert.doesNotMatch(crontabOf({ exchangeRatesFrom: undefined }), /rates/);
});
