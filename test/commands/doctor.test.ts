import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";
import pg from "pg";
import { examine } from "../../src/commands/doctor/examine.ts";
import type { Finding } from "../../src/commands/doctor/finding.ts";
import { parseSettings } from "../../src/process/settings.ts";
import type { Settings } from "../../src/process/settings.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { runOn, temporaryFolder } from "./process.ts";

let database: TestDatabase;
let admin: pg.Client;
before(async () => {
  database = await openTestDatabase("template_schema");
  admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
});
after(async () => {
  await admin.end();
  await database.close();
});

interface Seeded {
  settings?: Partial<Settings>;
  /** Milliseconds by which the clock is wrong. */
  clockMs?: number;
}

/** All findings, each as a line. */
async function found({ settings = {}, clockMs = 0 }: Seeded = {}): Promise<string[]> {
  const examined = await examine({
    settings: { ...parseSettings({ DATABASE_URL: database.adminUrl }), ...settings },
    client: admin,
    url: database.adminUrl,
    now: () => Date.now() + clockMs,
  });
  return examined.flatMap(({ name, findings }) =>
    findings.map(({ severity, what, toDo }) => `${name} ${severity} ${what} > ${toDo}`),
  );
}

/** Changes the database until the end of a test. */
async function seed(t: TestContext, fault: string, mended: string): Promise<void> {
  t.after(() => admin.query(mended));
  for (const statement of fault.split(";\n")) await admin.query(statement);
}

const assertFinds = (lines: readonly string[], ...patterns: RegExp[]) => {
  for (const pattern of patterns)
    assert.ok(
      lines.some((line) => pattern.test(line)),
      `${pattern} in\n${lines.join("\n")}`,
    );
};

test("a database that is well has no errors but those of a Postgres for tests; the command says so as JSON", async () => {
  const { exitCode, stdout, stderr } = await runOn(database.adminUrl, ["doctor", "--json"]);
  const { healthy, examined } = JSON.parse(stdout);
  assert.deepEqual([exitCode, healthy], [1, false], stdout + stderr);
  const errors = examined.flatMap(({ name, findings }: { name: string; findings: Finding[] }) =>
    findings.filter(({ severity }) => severity === "error").map(({ what }) => `${name}: ${what}`),
  );
  assert.deepEqual(errors, [
    "Postgres' settings: fsync is off: a crash of the machine may destroy all data.",
    "Postgres' settings: full_page_writes is off: a crash of the machine may leave torn pages, which nothing mends.",
    "Postgres' settings: synchronous_commit is off: a crash may lose bookings that were confirmed.",
  ]);
  const names = examined.map(({ name }: { name: string }) => name);
  for (const name of ["settings", "versions", "time", "disk", "migrations", "rights", "keys", "backups"])
    assert.ok(names.includes(name), name);
  for (const name of ["replication", "background work", "bloat", "indexes", "lints", "proof"])
    assert.ok(names.includes(name), name);
});

test("faults of the process are found: clock, settings, backups", async (t) => {
  const production = { production: true, databaseUrl: undefined } as const;
  assertFinds(
    await found({ clockMs: -60_000, settings: production }),
    /^time error The clocks .* are 60 s apart\. > .*NTP/,
    /^settings warning SECRETS_KEY is not set/,
    /^settings warning PUBLIC_URL is not an https: address/,
    /^backups warning BACKUP_DIRECTORY is not set/,
  );
  const folder = await temporaryFolder();
  t.after(folder.remove);
  const settings = { databaseUrl: undefined, backupDirectory: folder.path };
  assertFinds(
    await found({ settings }),
    /^backups error There is no complete backup in .* > Run `npx erp backup`/,
  );
  const at = new Date(Date.now() - 30 * 3_600_000).toISOString().replace(/[-:]|\.\d+/g, "");
  await mkdir(join(folder.path, `${at}-1`));
  assertFinds(await found({ settings }), /^backups warning The newest backup is 30 hours old/);
});

test("settings of Postgres that a role or the database has are found, and the role's counts before the database's", async (t) => {
  const { pathname } = new URL(database.adminUrl);
  const name = pg.escapeIdentifier(pathname.slice(1));
  await seed(
    t,
    `alter database ${name} set track_counts = off;
alter database ${name} set timezone = 'Asia/Tokyo';
alter role service_api_login in database ${name} set timezone = 'Europe/Berlin'`,
    `alter database ${name} reset all; alter role service_api_login in database ${name} reset all`,
  );
  const lines = (await found()).filter((line) => line.startsWith("Postgres' settings"));
  assertFinds(
    lines,
    /error track_counts is off: autovacuum .* > Switch it on, for .*service_login/,
    /warning The time zone is Europe\/Berlin: .* > Set timezone to UTC, for service_api_login;/,
  );
  assert.ok(!lines.some((line) => line.includes("Tokyo")), "service_login has UTC by itself");
});

test("a demonstration shop gives no warnings, and nothing waits for its receivers", async (t) => {
  const demo = await openTestDatabase("template_demo");
  const client = new pg.Client({ connectionString: demo.adminUrl });
  t.after(async () => {
    await client.end();
    await demo.close();
  });
  await client.connect();
  const settings = parseSettings({ DATABASE_URL: demo.adminUrl });
  const examined = await examine({ settings, client, url: demo.adminUrl, now: Date.now });
  const warnings = examined
    .filter(({ name }) => name !== "Postgres' settings")
    .flatMap(({ findings }) => findings.filter(({ severity }) => severity !== "note"));
  assert.deepEqual(warnings, []);
  const { rows } = await client.query("select deliveries, delivery_seconds from events.backlog()");
  assert.deepEqual(rows, [{ deliveries: 0, delivery_seconds: 0 }]);
});

test("faults of rights, migrations and rules are found", async (t) => {
  await seed(t, "alter table erp.tag owner to service_api", "alter table erp.tag owner to service_owner");
  // Each migration but the newest is referred to by the next
  const { rows } = await admin.query("select max(filename) as newest from graphile_migrate.migrations");
  const [{ newest }] = rows;
  await seed(
    t,
    `insert into graphile_migrate.migrations (hash, filename) values ('sha1:other', '999999.sql');
update graphile_migrate.migrations set hash = 'x' || hash where filename = '${newest}'`,
    `delete from graphile_migrate.migrations where filename = '999999.sql';
     update graphile_migrate.migrations set hash = substr(hash, 2) where filename = '${newest}'`,
  );
  await seed(
    t,
    "create function erp.doctored() returns void language sql security definer as 'select'",
    "drop function erp.doctored()",
  );
  const { exitCode, stdout } = await runOn(database.adminUrl, ["doctor"]);
  assert.equal(exitCode, 1, stdout);
  assertFinds(
    stdout.split("\n"),
    /^rights: error: The role service_api owns erp\.tag\./,
    new RegExp(`^migrations: error: The database lacks migrations: ${newest.slice(0, 6)}-`),
    /^migrations: error: The database has had migrations that this code doesn't have: .*999999/,
    /^lints: error: definer-function: erp\.doctored\(\)/,
    /^ {4}revoke execute on function erp\.doctored\(\) from public/,
    /^proof: well/,
  );
});

test("wrong figures, old and unreadable keys, and work that waits are found", async (t) => {
  await seed(
    t,
    `set session_replication_role = replica;
insert into erp.product (product_number, physical_stock, available_stock) values ('doctored', 7, 7);
reset session_replication_role`,
    "delete from erp.product where product_number = 'doctored'",
  );
  await seed(
    t,
    `insert into auth.signing_key (secret, created_at) values
       ('sealed:v1:0123456789abcdef:x', now() - interval '200 days 12 hours')`,
    "delete from auth.signing_key",
  );
  await seed(
    t,
    `insert into events.outbox (topic, subject_id, entity_id, data, cause, occurred_at) values
       ('product.created', gen_random_uuid(), gen_random_uuid(), '{}', '{}', now() - interval '20 minutes')`,
    "delete from events.outbox",
  );
  await seed(
    t,
    "select graphile_worker.add_job('prune_events', '{}', run_at => now() - interval '1 hour')",
    "select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))",
  );
  await seed(
    t,
    `insert into mutation.idempotency_key (credential_id, key, request, created_at)
       select gen_random_uuid(), days::text, '', now() - days * interval '25 hours' from generate_series(1, 4) days`,
    "delete from mutation.idempotency_key",
  );
  assertFinds(
    await found(),
    /^retention warning There are idempotency keys that should have been deleted 3 days ago\. > .*WORKER_CONCURRENCY/,
    /^proof error product\.physical_stock of \S+ is 7, and the ledger gives 0\. > Find who/,
    /^keys warning The key that signs access tokens is 200 days old\. > Run `npx erp keys rotate`/,
    /^keys error SECRETS_KEY is not set, but .* with 0123456789abcdef/,
    /^background work warning Committed changes wait to become events for 20 minutes\. > .*WEBHOOK_CONCURRENCY/,
    /^background work warning Jobs wait for 60 minutes/,
  );
});

test("invalid indexes and forgotten slots are found", async (t) => {
  const slot = `doctored_${process.pid}`;
  await seed(
    t,
    `insert into erp.tag (name) values ('one'), ('two');
select pg_create_physical_replication_slot('${slot}', true)`,
    `select pg_drop_replication_slot('${slot}'); delete from erp.tag; drop index erp.doctored`,
  );
  await admin.query("create unique index concurrently doctored on erp.tag ((1))").catch(() => {});
  assertFinds(
    await found(),
    /^indexes error The index erp\.doctored of erp\.tag is invalid.* > drop index concurrently erp\.doctored/,
    new RegExp(
      `^replication warning Nobody uses the replication slot ${slot}.* > .*pg_drop_replication_slot`,
    ),
  );
});

test("a role that may only serve is told so", async () => {
  const { exitCode, stdout } = await runOn(database.loginUrl, ["doctor"]);
  assert.equal(exitCode, 1);
  assert.match(
    stdout,
    /^proof: error: It can't be examined: .*\n {4}Give the command an administrator's DATABASE_URL/m,
  );
});

test("databases that every cluster has are closed to the service's roles, or it says how to close them", async (t) => {
  await seed(
    t,
    "grant connect on database template1 to public",
    "revoke connect on database template1 from public",
  );
  const [line, ...more] = (await found()).filter((each) => each.startsWith("other databases"));
  assert.deepEqual(more, []);
  assert.match(line!, /warning \S+_login .* template1.*large objects.* > .*db\/fence-neighbours\.sql/);
});
