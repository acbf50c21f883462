import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chown, cp, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import { AccessTokens } from "../../src/auth/access-token.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { temporaryFolder } from "../commands/process.ts";
import { startOwnPostgres, unsafe } from "../lib/prepared.ts";
import { query, startProcess } from "../lib/service.ts";
import type { TestProcess } from "../lib/service.ts";
import { storedKeys } from "../lib/signing-keys.ts";
import { until } from "../lib/until.ts";

// Two clusters: a primary, and a standby made from it by Postgres' own backup functions
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let primary: Cluster | undefined;
let standby: Cluster | undefined;
let service: TestProcess;
let credentials: Awaited<ReturnType<typeof createCredential>>;
let loginUrl: string;
/** Issued by a process on the primary. */
let token: string;

before(async () => {
  folder = await temporaryFolder();
  const own = await startOwnPostgres({ directory: join(folder.path, "primary"), flags: unsafe });
  const { adminUrl } = own;
  ({ cluster: primary, loginUrl } = own);
  await using(urlAsOwner(adminUrl), async (client) => {
    credentials = await createCredential(client, { name: "test", read: "all", write: "all" });
    await client.query("insert into erp.country (name, iso_code) values ('{\"en-GB\":\"Norway\"}', 'NO')");
  });
  const pool = createPool(loginUrl, { max: 1 });
  // Made by the first process, because one on the standby can't make it
  const { id, clientId, scopes } = credentials;
  const tokens = new AccessTokens(storedKeys(pool), Date.now);
  token = await tokens.issue({ credentialId: id, accessKey: clientId, scopes });
  await pool.end();
  standby = await makeStandby(primary);
  const { host } = new URL(standby.adminUrl("postgres"));
  service = await startProcess({ loginUrl: Object.assign(new URL(loginUrl), { host }).href });
});
after(async () => {
  await service?.close();
  await standby?.stop();
  await primary?.stop();
  await folder.remove();
});

async function using<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function makeStandby(from: Cluster): Promise<Cluster> {
  const [source, home] = [join(folder.path, "primary"), join(folder.path, "standby")];
  const data = join(home, "postgres");
  const { uid, gid } = await stat(join(source, "postgres"));
  await mkdir(home);
  const url = from.adminUrl("postgres");
  await using(url, async (client) => {
    await client.query("select pg_create_physical_replication_slot('standby', true)");
    await client.query("select pg_backup_start('standby', fast => true)");
    await cp(join(source, "postgres"), data, {
      recursive: true,
      filter: (path) => !/\/(pg_wal\/.+|postmaster\.(pid|opts)|server\.log)$/.test(path),
    });
    const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop()");
    await writeFile(join(data, "backup_label"), rows[0]!.labelfile);
  });
  await writeFile(join(data, "standby.signal"), "");
  await cp(join(source, "password"), join(home, "password"));
  // Postgres may run as another user than this process, and only enters its own folders
  execFileSync("chown", ["-R", `${uid}:${gid}`, data]);
  execFileSync("chmod", ["-R", "u=rwX,go=", data]);
  await chown(join(home, "password"), uid, gid);
  const { hostname, port, username, password } = new URL(url);
  const primaryInfo = `host=${hostname} port=${port} user=${username} password=${password}`;
  return startCluster({
    directory: home,
    flags: { fsync: "off", primary_conninfo: primaryInfo, primary_slot_name: "standby" },
  });
}

const create = {
  query: 'mutation { warehouseCreate(input: { name: "Annex", code: "A1" }) { warehouse { code } } }',
};
const readiness = async () => {
  const response = await fetch(`${service.url}/readyz`);
  return { status: response.status, body: await response.json() };
};

test("on a standby, what reads is answered, what writes is SERVICE_UNAVAILABLE, and the readiness says why", async () => {
  await until(async () => (await service.ask(token, { query })).body.data?.countrys.edges.length === 1);
  const { status, codes, body } = await service.ask(token, create);
  assert.deepEqual([status, codes], [200, ["SERVICE_UNAVAILABLE"]]);
  assert.equal(body.errors[0].extensions.retryable, true);
  const refused = await fetch(`${service.url}/api/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      grant_type: "client_credentials",
      client_id: credentials.clientId,
      client_secret: credentials.clientSecret,
    }),
  });
  assert.deepEqual([refused.status, (await refused.json()).error], [503, "temporarily_unavailable"]);
  assert.equal((await fetch(`${service.url}/livez`)).status, 200);
  const message = "The database is starting, recovering, or a standby.";
  const obstacles = [{ part: "database", code: "DATABASE_RECOVERING", message }];
  assert.deepEqual(await readiness(), { status: 503, body: { status: "unavailable", obstacles } });
  assert.deepEqual(
    service.log.filter(({ level }) => (level as number) >= 50),
    [],
  );
});

test("when the standby is promoted, the same process writes", async () => {
  await using(standby!.adminUrl("postgres"), (client) => client.query("select pg_promote()"));
  await until(async () => (await readiness()).status === 200);
  assert.ok(await service.tokenFor(credentials));
  const { body, text } = await service.ask(token, create);
  assert.equal(body.data?.warehouseCreate.warehouse.code, "A1", text);
});

test("a database that was made read-only is SERVICE_UNAVAILABLE for what writes, until it takes changes again", async () => {
  const url = standby!.adminUrl("empty");
  const end = "select pg_terminate_backend(pid) from pg_stat_activity where usename ~ '^service_'";
  await using(url, async (client) => {
    await client.query("alter database empty set default_transaction_read_only = on");
    await client.query(end);
  });
  await until(async () => (await readiness()).body.obstacles?.[0].code === "DATABASE_READ_ONLY");
  await until(async () => (await service.ask(token, { query })).codes.length === 0);
  const { codes, body } = await service.ask(token, create);
  assert.deepEqual([codes, body.errors[0].extensions.retryable], [["SERVICE_UNAVAILABLE"], true]);
  await using(url, async (client) => {
    await client.query("set default_transaction_read_only = off");
    await client.query("alter database empty reset default_transaction_read_only");
  });
  // New connections take writes, so the old ones must have been closed
  await until(async () => (await service.ask(token, create)).codes.length === 0);
  await until(async () => (await readiness()).status === 200);
});
