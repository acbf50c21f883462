import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { pino } from "pino";
import { makeCrontab } from "../../src/jobs/crontab.ts";
import { makeTasks, tasksAtStart } from "../../src/jobs/tasks.ts";
import { toApiLoginUrl } from "../../src/postgres/roles.ts";
import { serve } from "../../src/process/serve.ts";
import type { Serving } from "../../src/process/listen.ts";
import { parseSettings } from "../../src/process/settings.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";
import { oneDay } from "./exchange-rates/lists.ts";
import { Queue, startTestJobs } from "./support.ts";

// The service with all that `npm start` begins, on the demonstration shop, which has old lines without prices
let database: TestDatabase;
let queue: Queue;
let folder: string;
let list: string;
let service: Serving | undefined;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "rates-"));
  list = join(folder, "rates.xml");
  await writeFile(list, oneDay);
  database = await openTestDatabase("template_demo");
  queue = new Queue(database.ownerUrl);
});
// For a test that has failed
afterEach(() => stop());
after(async () => {
  await queue.owner.end();
  await database.close();
  await rm(folder, { recursive: true });
});

/** @param variables of the environment */
async function start(variables: Record<string, string> = {}, databaseUrl = database.loginUrl) {
  const log: any[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const settings = parseSettings({ PORT: "0", WEBHOOK_CONCURRENCY: "0", ...variables });
  const apiUrl = toApiLoginUrl(databaseUrl)!;
  service = await serve({ databaseUrl, apiUrl, settings, logger, isBackground: true });
  const status = async () => (await fetch(`http://127.0.0.1:${service!.port}/healthz`)).status;
  const logged = (message: string, count = 1) =>
    until(() => log.filter(({ msg }) => msg === message).length >= count);
  return { log, status, logged };
}

async function stop(): Promise<void> {
  const stopped = service;
  service = undefined;
  await stopped?.stop();
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
  await start({ WORKER_CONCURRENCY: "0" });
  assert.equal(await workersConnections(), 0);
  await stop();
  assert.deepEqual(await queue.jobs(), []);
});

test("the service fills in old prices when it starts, and stops cleanly", async () => {
  const { log, logged } = await start();
  await logged("a job is done", tasksAtStart.length);
  assert.equal(await emptyPrices(), 0);
  assert.ok((await workersConnections()) <= 4);
  await stop();
  await until(async () => (await workersConnections()) === 0);
  assert.deepEqual(await queue.jobs(), []);
  assert.deepEqual(
    log.filter(({ level }) => level >= 40),
    [],
  );
});

test("a service that may not import rates leaves such a job to one that may", async () => {
  await queue.add("import_exchange_rates");
  const without = await start();
  await without.logged("a job is done", tasksAtStart.length);
  await stop();
  assert.equal((await queue.jobs()).length, 1);
  assert.equal(await count("erp.exchange_rate", "reference_date = '2026-06-01'"), 0);
  const { log } = await start({ EXCHANGE_RATES_FROM: list });
  await until(() =>
    log.some(({ msg, job }) => msg === "a job is done" && job.task === "import_exchange_rates"),
  );
  await stop();
  assert.equal(await count("erp.exchange_rate", "reference_date = '2026-06-01'"), 3);
});

test("a failing import is logged with its job, and the service continues", async () => {
  await queue.add("import_exchange_rates");
  const { log, logged, status } = await start({ EXCHANGE_RATES_FROM: join(folder, "none.xml") });
  await logged("a job failed");
  const { level, job, err } = log.find(({ msg }) => msg === "a job failed");
  assert.deepEqual([level, job.task, job.attempts], [50, "import_exchange_rates", 1]);
  assert.match(err.message, /there is no such file/);
  assert.equal(await status(), 200);
  await stop();
  await queue.clear();
});

test("cut off from Postgres and back, the service answers and works again; cut off once more, it ends in order", async (t) => {
  const proxy = await openCuttableProxy(database.loginUrl);
  t.after(() => proxy.close());
  const { logged, status } = await start({ EXCHANGE_RATES_FROM: list }, proxy.url);
  await logged("a job is done");
  proxy.cut();
  await logged("background work can't start; trying again");
  assert.equal(await status(), 503);
  proxy.restore();
  await until(async () => (await status()) === 200);
  await queue.add("import_exchange_rates");
  await until(async () => (await queue.jobs()).length === 0);
  proxy.cut();
  await stop();
});

test("rates are imported every day in the afternoon, and once after a pause of any length", async () => {
  const settings = { exchangeRatesFrom: list };
  const options = { crontab: makeCrontab(settings) };
  const tasks = makeTasks(settings);
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
  assert.deepEqual(Object.keys(makeTasks({ exchangeRatesFrom: undefined })), [
    "backfill",
    "fill_default_currency_prices",
    "prune_events",
    "prune_webhook_attempts",
    "prune_idempotency_keys",
    "prune_bulk_operations",
    "prune_use_counts",
    "prune_credentials",
    "prune_operations",
    "prune_label_files",
    "prune_audit",
    "erase_retired_keys",
    "close_ledger",
    "expire_batches",
    "expire_reservations",
    "expire_quotes",
    "sign_valuation_heads",
  ]);
  assert.doesNotMatch(makeCrontab({ exchangeRatesFrom: undefined }), /rates/);
});
