import assert from "node:assert/strict";
import { Agent } from "node:http";
import { after, before, test } from "node:test";
import pg from "pg";
import { createCredential, deactivateCredential } from "../../src/auth/credentials.ts";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import { headAlone, startCommand } from "../commands/process.ts";
import type { CommandProcess } from "../commands/process.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import type { CuttableProxy } from "../lib/cuttable-proxy.ts";
import { freePort } from "../lib/free-port.ts";
import { send } from "../lib/load.ts";
import { servingProcesses } from "../lib/processes.ts";
import { query, read } from "../lib/service.ts";
import { until } from "../lib/until.ts";
import { staysWhy, whoIs } from "./users.ts";

const count = 2;
let database: TestDatabase;
let owner: pg.Client;
let service: CommandProcess;
let address: string;

let proxy: CuttableProxy;
let metricsPort: number;
before(async () => {
  metricsPort = await freePort();
  database = await openTestDatabase("template_schema");
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  proxy = await openCuttableProxy(database.loginUrl);
  const settings = {
    DATABASE_URL: proxy.url,
    LIMIT_BUCKET: "60",
    LIMIT_REFILL: "1",
    METRICS_PORT: String(metricsPort),
    // Those of another user find nothing of what Node has compiled before, and take a third longer to start
    RUN_AS: "root",
  };
  service = startCommand(["start", "--workers", String(count)], settings);
  address = (await service.said(/The API is at (http:\S+?)\/api/))[1]!;
  assert.doesNotMatch(service.output(), /Waiting for Postgres|can't|"level":[456]0/, "a healthy start");
});
after(async () => {
  service.kill("SIGTERM");
  assert.equal(await service.ended, 0, service.output());
  assert.deepEqual(await servers(), []);
  await owner.end();
  await proxy.close();
  await database.close();
});

const servers = () => servingProcesses(service.pid);

async function tokenOf({ clientId, clientSecret }: ClientCredentials): Promise<string> {
  const body = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const response = await fetch(`${address}/api/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Sends a request on a new connection, which any of the processes may accept. */
const ask = async (token: string, document = query) =>
  read(
    await fetch(`${address}/api/graphql/unstable`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ query: document }),
      // Requests that a killed process had accepted may never be answered
      signal: AbortSignal.timeout(10_000),
    }),
  );
const statuses = async (token: string, times: number) => {
  const answers = [];
  for (let i = 0; i < times; i++) answers.push((await ask(token)).status);
  return answers;
};

test("several processes answer behind one port", async () => {
  assert.equal((await servers()).length, count);
  const token = await tokenOf(await createCredential(owner, { name: "a", read: "all" }));
  assert.deepEqual(await statuses(token, 9), Array(9).fill(200));
});

test("they stay root where that is named", { skip: staysWhy }, async () => {
  for (const pid of [service.pid, ...(await servers())])
    assert.deepEqual((await whoIs(pid)).users, [0, 0, 0, 0]);
});

test("a deactivated credential stops in all of them, and a plan without the API too", async () => {
  const credentials = await createCredential(owner, { name: "b", read: "all" });
  const token = await tokenOf(credentials);
  await statuses(token, 6);
  await deactivateCredential(owner, credentials.id);
  // Each process hears of a change by itself
  const allAnswer = (status: number) =>
    until(async () => (await statuses(token, 9)).every((answered) => answered === status));
  await allAnswer(403);
  await owner.query("select auth.set_plan('none')");
  await allAnswer(402);
  await owner.query("select auth.set_plan('full')");
  await allAnswer(403);
});

const figures = async (path: string) => read(await fetch(`http://127.0.0.1:${metricsPort}${path}`));
/** How many processes serve, by their metrics; none when these fail. */
const serving = async () =>
  Number(/^service_processes (\d+)$/m.exec((await figures("/metrics")).text)?.[1] ?? 0);

test("Prometheus finds the figures of all of them, and nothing else", async () => {
  const { text, status } = await figures("/metrics");
  assert.equal(status, 200);
  const counted = [...text.matchAll(/^service_requests_total\{version="unstable",status="200"\} (\d+)$/gm)];
  assert.equal(counted.length, 1, text);
  assert.ok(Number(counted[0]![1]) >= 9);
  for (const name of [
    "service_request_duration_seconds_count",
    "service_points_total",
    "service_connections",
  ])
    assert.match(text, new RegExp(`^${name}[ {]`, "m"));
  assert.equal((await figures("/")).status, 404);
});

test("they are there while the database is silent, except for what waits in it", async (t) => {
  t.after(() => proxy.restore());
  const outbox = async () => {
    const { text, status } = await figures("/metrics");
    assert.deepEqual([status, /^service_processes (\d+)$/m.exec(text)?.[1]], [200, String(count)], text);
    return /^service_outbox_events /m.test(text);
  };
  await until(outbox);
  proxy.freeze();
  await until(async () => !(await outbox()));
  proxy.restore();
  await until(outbox);
});

test("they keep to the limits together", async () => {
  const token = await tokenOf(await createCredential(owner, { name: "c", read: "all" }));
  const start = performance.now();
  const answers: number[] = [];
  while (!answers.includes(429) && answers.length < 200) answers.push((await ask(token)).status);
  // Each costs two of 60 points, and one comes back per second. Each process for itself would allow 30
  const points = 60 + (performance.now() - start) / 1_000;
  assert.ok(answers.includes(429));
  const allowed = answers.filter((status) => status === 200).length;
  assert.ok(allowed > 0 && 2 * allowed <= points, `${allowed} for ${points} points`);
});

test("a killed one is replaced, and the others continue", async () => {
  const token = await tokenOf(await createCredential(owner, { name: "d", read: "all" }));
  const before = await servers();
  process.kill(before[0]!, "SIGKILL");
  await until(async () => !(await servers()).includes(before[0]!));
  await service.said(/a process has died; starting another/);
  // Its accepted requests are lost with it, and those that it was given before its death was noticed; nothing else is
  await until(async () => (await statuses(token, 5).catch(() => [])).join() === "200,200,200,200,200");
  await until(async () => (await servers()).length === count);
});

test("one that is to replace another waits for the database, and is replaced when it dies while that one leaves", async (t) => {
  const agents = Array.from({ length: 2 * count }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  t.after(() => {
    proxy.restore();
    for (const agent of agents) agent.destroy();
  });
  await until(async () => (await serving()) === count);
  proxy.cut();
  const before = await servers();
  const from = service.output().length;
  service.kill("SIGHUP");
  const said = () => service.output().slice(from);
  await until(() => /Waiting for Postgres at 127.*\n.*Waiting/.test(said()));
  // It is there, and doesn't serve. A process that is slow may be missing for the moment
  let told = 0;
  await until(async () => {
    told = await serving();
    assert.ok(told <= count, said());
    return told === count;
  }).catch((cause: unknown) => assert.fail(`${told} serve: ${cause}\n${said()}`));
  // Each process has several connections. One without a request is a second's work for a process that leaves
  const isLeaving = async () => {
    const answers = agents.map((agent) => send(agent, `${address}/livez`, null).catch(() => null));
    return (await Promise.all(answers)).some((answer) => answer?.closes);
  };
  await isLeaving();
  proxy.restore();
  await until(isLeaving);
  const added = (await servers()).filter((id) => !before.includes(id));
  process.kill(added[0]!, "SIGKILL");
  await until(() => /a process has died; starting another/.test(said()));
  await until(async () => (await serving()) === count && !(await servers()).includes(added[0]!), 120_000);
  await until(async () => (await fetch(`${address}/readyz`)).status === 200);
  assert.doesNotMatch(said(), /can't start/);
});

/** A program that kills the second of the processes of a service at its start. */
const killsSecond = `import cluster from "node:cluster";
if (cluster.worker?.id === 2) process.kill(process.pid, "SIGKILL");`;

test("one that is killed while it starts beside one that serves is replaced", async (t) => {
  const other = startCommand(["start", "--workers", "2"], {
    ...{ DATABASE_URL: database.loginUrl, RUN_AS: "root" },
    NODE_OPTIONS: `${headAlone.NODE_OPTIONS} --import data:text/javascript,${encodeURIComponent(killsSecond)}`,
  });
  t.after(async () => {
    other.kill("SIGTERM");
    await other.ended;
  });
  await other.said(/a process has died while it started; starting another/);
  const [, place] = await other.said(/The API is at (http:\S+?)\/api/);
  assert.equal((await fetch(`${place}/livez`)).status, 200);
  await until(async () => (await servingProcesses(other.pid)).length === 2);
});

test("one that is still starting ends at once when all stop", async () => {
  proxy.cut();
  const before = await servers();
  const from = service.output().length;
  service.kill("SIGHUP");
  const said = () => service.output().slice(from);
  await until(() => /Waiting for Postgres/.test(said()));
  const [starting] = (await servers()).filter((id) => !before.includes(id)) as [number];
  const begun = performance.now();
  service.kill("SIGTERM");
  await until(async () => !(await servers()).includes(starting));
  // One that never hears of it is killed after nine and a half
  assert.ok(performance.now() - begun < 7_000);
  assert.equal(await service.ended, 0, service.output());
  // A job may have been running when the database went
  const own = said().replaceAll(/^.*"job":.*$/gm, "");
  assert.doesNotMatch(own, /can't start|"level":50/);
});
