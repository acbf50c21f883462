import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { Agent } from "node:http";
import { after, afterEach, before, test } from "node:test";
import pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import { lookUpUser } from "../../src/cluster/postgres-user.ts";
import { startCommand, temporaryFolder } from "../commands/process.ts";
import type { CommandProcess } from "../commands/process.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { Load, send } from "../lib/load.ts";
import type { LoadReport } from "../lib/load.ts";
import { servingProcesses } from "../lib/processes.ts";
import { freePort } from "../lib/free-port.ts";
import { until } from "../lib/until.ts";
import { assertRunsAs, assertWorks, staysWhy } from "./users.ts";

let database: TestDatabase;
let owner: pg.Client;
let admin: pg.Client;
let running: CommandProcess | undefined;
let products: string[];
let bin: string;
before(async () => {
  database = await openTestDatabase("template_demo");
  owner = new pg.Client({ connectionString: database.ownerUrl });
  admin = new pg.Client({ connectionString: database.adminUrl });
  await Promise.all([owner.connect(), admin.connect()]);
  const { rows } = await owner.query(
    "select array(select id from erp.product p where not is_batch_managed and not exists (select from erp.product v where v.parent_id = p.id) order by id limit 2) as products, (select id from erp.bin_location order by id limit 1) as bin",
  );
  ({ products, bin } = rows[0]);
});
afterEach(async () => {
  running?.kill("SIGKILL");
  await running?.ended;
});
after(async () => {
  await Promise.all([owner.end(), admin.end()]);
  await database.close();
});

/** Until a mutation waits for a lock. */
const isWaitingForLock = () =>
  until(async () => {
    const found =
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ~ 'mutation.run'";
    return (await admin.query(found)).rowCount === 1;
  });

const lineOf = (product: string) => ({
  productId: `gid://service/Product/${product}`,
  place: { binLocationId: `gid://service/BinLocation/${bin}` },
  delta: 1,
});

async function start(parameters: string[] = [], settings: Record<string, string> = {}) {
  const unlimited = { LIMIT_BUCKET: "1000000", LIMIT_REFILL: "1000000" };
  const service = startCommand(["start", ...parameters], {
    ...{ DATABASE_URL: database.loginUrl, WORKER_CONCURRENCY: "0", LOG_LEVEL: "info" },
    ...unlimited,
    ...settings,
  });
  running = service;
  const address = (await service.said(/The API is at (http:\S+?)\/api/))[1]!;
  const credentials = await createCredential(owner, { name: "test", read: "all", write: "all" });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { text } = await send(agent, `${address}/api/oauth/token`, null, {
    ...{
      grant_type: "client_credentials",
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
    },
  });
  assert.match(text, /access_token/);
  return { service, address, agent, token: JSON.parse(text).access_token as string };
}

/** Every request was answered, none was cut off, and every confirmed booking is in the ledger once. */
async function assertNothingLost({ statuses, errors, cut, booked }: LoadReport): Promise<void> {
  assert.deepEqual({ cut, errors }, { cut: [], errors: [] });
  assert.deepEqual(Object.keys(statuses), ["200"]);
  assert.ok(booked.length > 20, `${booked.length}`);
  const { rows } = await owner.query(
    "select comment from ledger.stock_movement where comment = any ($1) order by comment",
    [booked],
  );
  assert.deepEqual(
    rows.map(({ comment }) => comment),
    booked.toSorted(),
  );
  assert.deepEqual((await owner.query("select * from ledger.proof limit 5")).rows, []);
}

async function assertEnds(service: CommandProcess, begin: number): Promise<void> {
  assert.equal(await service.ended, 0, service.output());
  assert.ok(performance.now() - begin < 10_000, "within 10 s");
  assert.doesNotMatch(service.output(), /\n\s+at /);
}

test("SIGTERM under load: the readiness fails first, every request is answered, none is cut off", async () => {
  const { service, address, agent, token } = await start();
  const load = new Load({ address, token, clients: 4, line: lineOf(products[0]!) });
  await until(() => load.answers > 60);

  // A booking that always runs, and has to wait
  await owner.query("begin");
  await owner.query("select from erp.product where id = $1 for update", [products[1]]);
  const waiting = send(new Agent({ keepAlive: true }), `${address}/api/graphql/unstable`, token, {
    query:
      "mutation ($input: StockAdjustInput!) { stockAdjust(input: $input) { stockMovements { id } userErrors { code } } }",
    variables: { input: { lines: [lineOf(products[1]!)], comment: "under way" } },
  });
  await isWaitingForLock();

  const begin = performance.now();
  service.kill("SIGTERM");
  let readiness = await send(agent, `${address}/readyz`, null);
  while (readiness.status === 200) readiness = await send(agent, `${address}/readyz`, null);
  const { status, text, closes } = readiness;
  const obstacle = { part: "process", code: "STOPPING", message: "This process is about to stop." };
  assert.deepEqual(
    [status, JSON.parse(text), closes],
    [503, { status: "unavailable", obstacles: [obstacle] }, false],
  );
  // It still accepts requests, on new connections too
  assert.equal((await send(new Agent(), `${address}/livez`, null)).status, 200);
  await until(() => load.report.refused > 0);
  await owner.query("commit");
  const answer = await waiting;
  assert.deepEqual([answer.status, answer.closes], [200, true]);
  assert.deepEqual(JSON.parse(answer.text).data.stockAdjust.userErrors, [], answer.text);
  await assertEnds(service, begin);
  await assertNothingLost(await load.end());
});

test("what would take longer than the stop is broken off, undone and answered", async () => {
  const { service, address, agent, token } = await start([], { LOCK_TIMEOUT: "60", MUTATION_TIMEOUT: "60" });
  await owner.query("begin");
  await owner.query("select from erp.product where id = $1 for update", [products[1]]);
  const waiting = send(agent, `${address}/api/graphql/unstable`, token, {
    query: "mutation ($input: StockAdjustInput!) { stockAdjust(input: $input) { userErrors { code } } }",
    variables: { input: { lines: [lineOf(products[1]!)], comment: "broken off" } },
  });
  await isWaitingForLock();
  const begin = performance.now();
  service.kill("SIGINT");
  const { status, text } = await waiting;
  assert.equal(status, 200);
  const [{ extensions }] = JSON.parse(text).errors;
  assert.deepEqual([extensions.code, extensions.retryable], ["QUERY_TIMEOUT", true]);
  await assertEnds(service, begin);
  await owner.query("commit");
  const { rowCount } = await owner.query("select from ledger.stock_movement where comment = 'broken off'");
  assert.equal(rowCount, 0);
});

/** A process that stands still before anybody has asked for its figures is in their sums, too. */
async function assertCountsStopped(metricsPort: number, pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  try {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    assert.match(text, /^service_processes 2$/m);
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

test("SIGHUP replaces the processes under load without a refused request, SIGTERM then cuts none off; all run as the user who is named", async (t) => {
  const user = staysWhy === false ? await lookUpUser("daemon") : null;
  // Files of all processes would be there
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const metricsPort = await freePort();
  const { service, address, agent, token } = await start(["--workers", "2"], {
    ...{ TMPDIR: folder.path, READ_DATABASE_URLS: database.loginUrl, METRICS_PORT: String(metricsPort) },
    ...(user === null ? {} : { RUN_AS: "daemon" }),
  });
  agent.destroy();
  const assertUser = async (...pids: number[]) => {
    if (user !== null) for (const pid of pids) await assertRunsAs(pid, user);
  };
  const before = await servingProcesses(service.pid);
  assert.equal(before.length, 2);
  await assertUser(service.pid, ...before);
  await assertWorks(address, owner);
  const load = new Load({ address, token, clients: 4, line: lineOf(products[0]!) });
  await until(() => load.answers > 60);
  service.kill("SIGHUP");
  await service.said(/all processes have been replaced/);
  const now = await servingProcesses(service.pid);
  assert.equal(now.length, 2);
  assert.ok(now.every((pid) => !before.includes(pid)));
  await assertUser(...now);
  await assertWorks(address, owner);
  // What they share has no name, so that nothing stays of it, however they end
  const names = await readdir(folder.path, { recursive: true });
  assert.deepEqual(
    names.filter((name) => name.includes("positions")),
    [],
  );
  await assertCountsStopped(metricsPort, now[0]!);
  const answers = load.answers;
  await until(() => load.answers > answers + 30);
  assert.equal(load.report.refused, 0);

  const begin = performance.now();
  service.kill("SIGTERM");
  await assertEnds(service, begin);
  await assertNothingLost(await load.end());
});
