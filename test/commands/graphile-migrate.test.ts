import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { EventEmitter } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { withClient } from "../../src/postgres/client.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import { urlOfDatabase } from "../../src/migrations/templates.ts";
import type { TestDatabase } from "../lib/database.ts";
import { copyPrepared, unsafe } from "../lib/prepared.ts";
import { until } from "../lib/until.ts";
import { Project } from "./project.ts";
import type { CommandProcess } from "./process.ts";

const program = fileURLToPath(import.meta.resolve("graphile-migrate/dist/cli.js"));
const file = "db/current/5-try.sql";

// On a copy of the project, while erp db watch runs
let project: Project;
let database: TestDatabase;
let watching: CommandProcess;
before(async () => {
  project = await Project.copy({ versions: "head" });
  await project.commitCurrent();
  database = await project.database();
});
after(async () => {
  watching?.kill("SIGINT");
  await watching?.ended;
  await rows(`drop database if exists ${shadow()}`);
  await database.close();
  await project.remove();
});

/** Runs graphile-migrate, with nothing set but the URL of an administrator. */
const graphileMigrate = (...words: string[]) => ended(startIt(words, { DATABASE_URL: database.adminUrl }));

const startIt = (words: readonly string[], settings: Record<string, string> = {}) =>
  spawn(process.execPath, [program, ...words], {
    cwd: project.path,
    env: { PATH: process.env.PATH, ...project.compileCache, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });

async function ended(child: ReturnType<typeof startIt>): Promise<{ code: number; output: string }> {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  const [code] = await once(child, "close");
  return { code, output };
}

/** Connects again at once whenever the connection is cut, as a service does, while something is done. */
async function whileConnecting<T>(work: () => Promise<T>): Promise<T> {
  const end = Promise.withResolvers<void>();
  let isOver = false;
  const connecting = (async () => {
    for (; !isOver; await sleep(5))
      await withClient(database.adminUrl, (client) =>
        Promise.race([once(client as EventEmitter, "end"), end.promise]),
      ).catch(() => {});
  })();
  try {
    return await work();
  } finally {
    isOver = true;
    end.resolve();
    await connecting;
  }
}

const shadow = () => `${new URL(database.adminUrl).pathname.slice(1)}_shadow`;
const rows = async (text: string): Promise<any[]> =>
  (await withClient(database.adminUrl, (client) => client.query(text))).rows;
const shapes = `drop view if exists api_unstable.shapes; drop table if exists erp.shape;
create table erp.shape (id uuid primary key, name text not null);
alter table erp.shape enable row level security;
comment on table erp.shape is 'A shape.'; comment on column erp.shape.name is 'What it is called.';
create view api_unstable.shapes with (security_invoker = true) as select id, name from erp.shape;
comment on view api_unstable.shapes is E'@primaryKey id\\n@requiresScopes tags:read\\nShapes.';
`;
const facts = `select pg_get_userbyid(relowner) as owner, (select count(*)::int from pg_policy where polrelid = c.oid) as policies,
  col_description(to_regclass('api_unstable.shapes'), 2) as note from pg_class c where oid = to_regclass('erp.shape')`;
const ran = "graphile_migrate.current";
/** Goes on when the test lets go of a lock. */
const waiting = `do $$ begin while exists (select from pg_locks where locktype = 'advisory' and classid = 5 and objid = 5)
  loop perform pg_sleep(0.05); end loop; end $$;`;
const asMigrated = [{ owner: "service_owner", policies: 1, note: "@notNull\nWhat it is called." }];

test("current runs db/current as the owner of all, with what follows from it", async () => {
  await project.write(file, shapes);
  const { code, output } = await graphileMigrate("current");
  assert.equal(code, 0, output);
  assert.deepEqual(await rows(facts), asMigrated);
  // Which erp db watch takes for what it would run itself
  watching = project.start(["db", "watch"], { DATABASE_URL: database.adminUrl });
  await watching.said(/The API follows the database/);
  assert.doesNotMatch(watching.output(), /has been run/);
});

test("erp db watch follows what it did", async () => {
  await rows(`delete from ${ran}; drop view api_unstable.shapes; drop table erp.shape`);
  await until(async () => (await rows(facts)).length > 0);
  await watching.said(/has been run \(5-try\.sql\)/);
});

test("commit refuses a foreign shadow, and what the check refuses, and else writes migration and schema", async () => {
  await project.write(file, "create table erp.leave (id uuid primary key);\n");
  const committed = await project.list("db/committed");
  await rows(`create database ${shadow()} template template0 strategy file_copy`);
  const foreign = await graphileMigrate("commit", "--message", "leave");
  assert.notEqual(foreign.code, 0);
  assert.match(foreign.output, /_shadow that graphile-migrate hasn't made/);
  // It is still there
  await rows(`drop database ${shadow()}`);
  const refused = await graphileMigrate("commit", "--message", "leave");
  assert.notEqual(refused.code, 0);
  assert.match(refused.output, /row-level-security/);
  assert.deepEqual(await project.list("db/committed"), committed);
  await project.write(file, shapes);
  await rows("drop table if exists erp.leave");
  const { code, output } = await graphileMigrate("commit", "--message", "shapes");
  assert.equal(code, 0, output);
  assert.match((await project.list("db/committed")).at(-1)!, /-shapes\.sql$/);
  assert.match(await project.read("db/schema.sql"), /^create table erp\.shape \($/m);
  assert.deepEqual(await rows(facts), asMigrated);
  assert.match((await graphileMigrate("status")).output, /Up to date/);
});

test("uncommit brings it back, and reset makes the database anew, with all that the service needs", async () => {
  const back = await graphileMigrate("uncommit");
  assert.equal(back.code, 0, back.output);
  const name = (await project.list("db/current")).find((each) => /try/.test(each))!;
  assert.match(await project.read(`db/current/${name}`), /create table erp\.shape/);
  await project.write(`db/current/${name}`, `${waiting}\n${shapes}`);
  await until(async () => (await rows(`select from ${ran} where content ~ 'pg_locks'`)).length > 0);
  const length = watching.output().length;
  await withClient(urlOfDatabase(database.adminUrl, "postgres"), async (held) => {
    await held.query("select pg_advisory_lock(5, 5)");
    // Beside erp db watch, which keeps off until that is finished: it would hold the lock of migrations for longer
    const { code, output } = await whileConnecting(() => graphileMigrate("reset", "--erase"));
    assert.equal(code, 0, output);
    assert.deepEqual(await rows(facts), []);
  });
  await until(async () => isDeepStrictEqual(await rows(facts), asMigrated));
  await until(() => /has been run \(5-try\.sql\)/.test(watching.output().slice(length)));
  assert.doesNotMatch(
    watching.output().slice(length),
    /graphile_migrate|connection error|terminat|unchecked/,
  );
  watching.kill("SIGINT");
  await watching.ended;
  await rm(join(project.path, "db/current", name));
  assert.deepEqual(
    await rows(
      `select to_regclass('graphile_worker.jobs') is not null as queue,
         has_database_privilege('service_login', current_database(), 'temporary') as temporary`,
    ),
    [{ queue: true, temporary: false }],
  );
});

test("erp db env prints what other programs need, and erp db psql opens one as the owner", async () => {
  const settings = { DATABASE_URL: database.adminUrl };
  const { output } = await project.run(["db", "env"], settings);
  const urls = [...output.matchAll(/^export (\w+)='(.*)'$/gm)];
  assert.deepEqual(
    urls.map(([, name]) => name),
    ["DATABASE_URL", "SHADOW_DATABASE_URL", "ROOT_DATABASE_URL"],
  );
  const who = await withClient(urls[0]![2]!, (client) => client.query("select current_user as role"));
  assert.deepEqual(who.rows, [{ role: "service_owner" }]);
  for (const path of [process.env.PATH!, ""]) {
    const { code, output: said } = await project.run(["db", "psql", "-c", "select current_user as role"], {
      ...settings,
      PATH: path,
    });
    assert.equal(code, 0, said);
    assert.match(said, /role\s+-+\s+service_owner\s+\(1 row\)/);
    const wrong = await project.run(["db", "psql", "-c", "select nothing"], { ...settings, PATH: path });
    assert.equal(wrong.code, 1);
    assert.match(wrong.output, /ERROR: {2}column "nothing" does not exist/);
  }
});

test("migrate and watch need nothing set while the service's own Postgres runs", async () => {
  const none = await ended(startIt(["migrate"]));
  assert.notEqual(none.code, 0);
  assert.match(none.output, /The service's own Postgres isn't running/);
  const directory = join(project.path, ".data");
  await copyPrepared(directory);
  const cluster = await startCluster({ directory, flags: unsafe });
  try {
    const own = async (text: string): Promise<any[]> =>
      (await withClient(cluster.adminUrl("erp"), (client) => client.query(text))).rows;
    const migrated = await ended(startIt(["migrate"]));
    assert.equal(migrated.code, 0, migrated.output);
    const [{ newest }] = await own("select max(filename) as newest from graphile_migrate.migrations");
    assert.equal(parseInt(newest), parseInt((await project.list("db/committed")).at(-1)!));
    await project.write(file, "");
    const child = startIt(["watch"]);
    const end = ended(child);
    try {
      await project.write(file, shapes);
      await until(async () => (await own(facts)).length > 0);
      await until(async () => isDeepStrictEqual(await own(facts), asMigrated));
    } finally {
      child.kill("SIGINT");
      await end;
    }
  } finally {
    await cluster.stop();
  }
});
