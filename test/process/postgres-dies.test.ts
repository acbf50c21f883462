import assert from "node:assert/strict";
import { Agent } from "node:http";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";
import pg from "pg";
import { runningClusterUrl } from "../../src/cluster/cluster.ts";
import { startCommand, temporaryFolder } from "../commands/process.ts";
import type { CommandProcess } from "../commands/process.ts";
import { Load, send } from "../lib/load.ts";
import { copyPrepared } from "../lib/prepared.ts";
import { until } from "../lib/until.ts";

// The tests use one data folder in turn: that of a service with its own Postgres
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let service: CommandProcess;
let address: string;
let credentials: Record<"client_id" | "client_secret", string>;
before(async () => {
  folder = await temporaryFolder();
  await copyPrepared(folder.path);
  await start();
  await service.said(/first-secrets\.txt/);
  const secrets = await readFile(join(folder.path, "first-secrets.txt"), "utf8");
  const found = (name: string) => new RegExp(`${name}\\s+(\\S+)`).exec(secrets)![1]!;
  credentials = { client_id: found("client_id"), client_secret: found("client_secret") };
});
after(async () => {
  service.kill("SIGKILL");
  await service.ended;
  await killPostgres().catch(() => {});
  await folder.remove();
});

async function start(): Promise<void> {
  const settings = { DATA_DIRECTORY: folder.path, LIMIT_BUCKET: "1000000", LIMIT_REFILL: "1000000" };
  service = startCommand(["start"], { ...settings, LOG_LEVEL: "warn", WORKER_CONCURRENCY: "0" });
  address = (await service.said(/The API is at (http:\S+?)\/api/))[1]!;
}

const data = (name: string) => join(folder.path, "postgres", name);

async function killPostgres(): Promise<void> {
  process.kill(Number.parseInt(await readFile(data("postmaster.pid"), "utf8")), "SIGKILL");
}

/** Postgres can't start until the test ends. */
async function loseData(t: TestContext): Promise<void> {
  await rename(data("global"), data("gone"));
  t.after(() => rename(data("gone"), data("global")));
}

const get = (path: string) => send(new Agent(), `${address}${path}`, null);
const askForToken = () =>
  send(new Agent(), `${address}/api/oauth/token`, null, { grant_type: "client_credentials", ...credentials });

async function sql<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: (await runningClusterUrl(folder.path, "erp"))! });
  await client.connect();
  try {
    return (await client.query<T>(text, values)).rows;
  } finally {
    await client.end();
  }
}

test("killed under writes, Postgres is soon there again, and nothing that was answered is lost", async () => {
  const token = JSON.parse((await askForToken()).text).access_token as string;
  const [ids] = await sql<{ product: string; bin: string }>(
    "select (select id from erp.product p where not is_batch_managed and not exists (select from erp.product v where v.parent_id = p.id) order by id limit 1) as product, (select id from erp.bin_location order by id limit 1) as bin",
  );
  const line = {
    productId: `gid://service/Product/${ids!.product}`,
    place: { binLocationId: `gid://service/BinLocation/${ids!.bin}` },
    delta: 1,
  };
  const load = new Load({ address, token, clients: 4, line });
  await until(() => load.report.booked.length > 50);
  await killPostgres();
  await until(() => load.report.errors.length > 0);
  const before = load.report.booked.length;
  await until(() => load.report.booked.length > before + 10);
  await until(async () => (await get("/readyz")).status === 200);
  const { booked, errors, cut, refused } = await load.end();
  assert.deepEqual({ cut, refused }, { cut: [], refused: 0 });
  for (const error of errors)
    // The second when it was lost between a booking and the reading of its payload
    assert.match(JSON.parse(error)[0].extensions.code, /^(SERVICE|PAYLOAD)_UNAVAILABLE$/, error);
  const found = await sql<{ comment: string }>(
    "select comment from ledger.stock_movement where comment = any ($1) order by comment",
    [booked],
  );
  assert.deepEqual(
    found.map(({ comment }) => comment),
    booked.toSorted(),
  );
  assert.deepEqual(await sql("select * from ledger.proof limit 5"), []);
  await service.said(/Postgres has ended unexpectedly; restarting it[^]*Postgres is running again/);
});

test("when it doesn't come back, the service says so, and ends with 1", async (t) => {
  await loseData(t);
  await killPostgres();
  await service.said(/Postgres can't be started/);
  assert.equal((await get("/livez")).status, 200);
  // Backends end a moment after a killed Postgres
  await until(async () => (await get("/readyz")).status === 503);
  const { status, text } = await get("/readyz");
  const message = "The database can't be reached.";
  const obstacles = [{ part: "database", code: "DATABASE_AWAY", message }];
  assert.deepEqual([status, JSON.parse(text)], [503, { status: "unavailable", obstacles }]);
  const refused = await askForToken();
  assert.deepEqual([refused.status, JSON.parse(refused.text).error], [503, "temporarily_unavailable"]);
  assert.equal(await service.ended, 1);
  // Not necessarily last: the log and this message come through two pipes
  assert.match(service.output(), /^Postgres has ended and can't be restarted\. Its log \S+ says why\.$/m);
});

test("SIGTERM while Postgres is gone ends the service in order", async (t) => {
  await start();
  await loseData(t);
  await killPostgres();
  await service.said(/Postgres can't be started/);
  const said = service.output().length;
  const begin = performance.now();
  service.kill("SIGTERM");
  assert.equal(await service.ended, 0, service.output());
  assert.ok(performance.now() - begin < 20_000);
  assert.doesNotMatch(service.output().slice(said), /\n\s+at /);
});
