import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { startCluster } from "../../src/cluster/cluster.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { setUpDatabase } from "../../src/migrations/open-database.ts";
import { findApiLogin } from "../../src/migrations/requirements.ts";
import { runCommand, startCommand, temporaryFolder } from "../commands/process.ts";

// Its own cluster, because roles and their passwords belong to the whole cluster. It stands for an operator's.
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let cluster: Cluster;
let adminUrl: string;
let servingUrl: string;
before(async () => {
  folder = await temporaryFolder();
  cluster = await startCluster({ directory: join(folder.path, "operator"), flags: { fsync: "off" } });
  await execute(
    cluster.adminUrl("postgres"),
    "create role administrator login createrole password 'hunter2'",
    "create database shop owner administrator",
  );
  adminUrl = Object.assign(new URL(cluster.adminUrl("shop")), {
    username: "administrator",
    password: "hunter2",
  }).href;
});
after(async () => {
  await cluster.stop();
  await folder.remove();
});

async function execute(url: string, ...statements: string[]): Promise<any[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: any[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

const setUp = (...parameters: string[]) =>
  runCommand(["db", "setup", ...parameters], { DATABASE_URL: adminUrl });

test("before the set-up, a start says which command to run", async () => {
  const { code, output } = await runCommand(["start"], { DATABASE_URL: adminUrl });
  assert.equal(code, 1);
  assert.match(output, /has not been set up\. Run .*npx erp db setup/);
  assert.doesNotMatch(output, /hunter2|\n\s+at /);
});

test("erp db setup, by a role that is no superuser, prints the URL to serve with", async () => {
  const { code, output } = await setUp();
  assert.equal(code, 0, output);
  servingUrl = /^DATABASE_URL=(.+)$/m.exec(output)![1]!;
  assert.equal(new URL(servingUrl).username, "service_login");
  assert.doesNotMatch(output, /hunter2/);
});

test("that URL may do nothing but become one of the narrow roles", async () => {
  const [role] = await execute(
    servingUrl,
    `select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolinherit,
       pg_has_role('service_login', 'service_owner', 'member') as owner,
       has_schema_privilege('erp', 'usage') as tables
     from pg_roles where rolname = current_user`,
  );
  assert.deepEqual(
    Object.entries(role).filter(([, isTrue]) => isTrue),
    [],
  );
  await execute(servingUrl, "set role service_api", "set role service_auth", "set role service_document");
  await assert.rejects(execute(servingUrl, "set role service_owner"), { code: "42501" });
});

test("the same start serves with that URL, without a warning", async () => {
  const service = startCommand(["start"], {
    DATABASE_URL: servingUrl,
    DATA_DIRECTORY: join(folder.path, "own"),
  });
  try {
    const [, address] = await service.said(/The API is at (http:\S+?)\/api/);
    assert.equal((await fetch(`${address}/healthz`)).status, 200);
  } finally {
    service.kill("SIGINT");
  }
  assert.equal(await service.ended, 0, service.output());
  assert.doesNotMatch(service.output(), /Warning|Starting Postgres/);
  assert.ok(!service.output().includes(new URL(servingUrl).password));
});

test("what changes the database is refused to that URL, with whose is needed", async () => {
  for (const command of ["setup", "watch"]) {
    const { code, output } = await runCommand(["db", command], { DATABASE_URL: servingUrl });
    assert.equal(code, 1, command);
    assert.match(output, /The role in DATABASE_URL .*superuser/, command);
    assert.doesNotMatch(output, /\n\s+at /, command);
  }
});

test("a second set-up changes nothing and keeps the password", async () => {
  const { code, output } = await setUp();
  assert.equal(code, 0, output);
  assert.match(output, /keeps its password/);
  assert.doesNotMatch(output, /DATABASE_URL=/);
  await execute(servingUrl, "select 1");
});

test("where the second role can't log in, requests are served by the first, and the operator hears of it", async () => {
  await execute(cluster.adminUrl("postgres"), "alter role service_api_login password 'another'");
  const { apiUrl, warning } = await findApiLogin(servingUrl);
  assert.equal(apiUrl, servingUrl);
  assert.match(warning!, /service_api_login can't be used \(password .*--new-password/);
});

test("a set-up by a superuser gives it the password of the first, and fences off what another role could not", async () => {
  const notes: string[] = [];
  await setUpDatabase(adminUrl, { onProgress: (note) => void notes.push(note) });
  assert.match(notes.join("\n"), /Note: every login role can still create .*psql -f db\/fence\.sql/);
  notes.length = 0;
  assert.equal(
    await setUpDatabase(cluster.adminUrl("shop"), { onProgress: (note) => void notes.push(note) }),
    null,
  );
  assert.doesNotMatch(notes.join("\n"), /Note/);
  const { apiUrl, warning } = await findApiLogin(servingUrl);
  assert.deepEqual([new URL(apiUrl).username, warning], ["service_api_login", null]);
  await execute(apiUrl, "set role service_api");
  await assert.rejects(execute(apiUrl, "select pg_notify('a', '')"), { code: "42501" });
  await assert.rejects(execute(servingUrl, "create temporary table t ()"), { code: "42501" });
  // A role that is no superuser made them, and may set them up again
  await setUpDatabase(adminUrl, { onProgress: (note) => void notes.push(note) });
  assert.doesNotMatch(notes.join("\n"), /Note/);
});

test("--new-password replaces it", async () => {
  const { output } = await setUp("--new-password");
  await assert.rejects(execute(servingUrl, "select 1"), { code: "28P01" });
  await execute(/^DATABASE_URL=(.+)$/m.exec(output)![1]!, "select 1");
});

test("erp db setup without DATABASE_URL says what it needs", async () => {
  const { code, output } = await runCommand(["db", "setup"]);
  assert.equal(code, 1);
  assert.match(output, /Set DATABASE_URL/);
});
