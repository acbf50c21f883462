import assert from "node:assert/strict";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { hasCurrentMigration } from "../../src/migrations/migrations.ts";
import { copyPrepared } from "../lib/prepared.ts";
import { until } from "../lib/until.ts";
import { Project } from "./project.ts";
import type { CommandProcess } from "./process.ts";

// On a copy of the project with its own Postgres, as developers have it
let project: Project;
let watching: CommandProcess;
let address: string;
let token: string;
before(async () => {
  project = await Project.copy({ versions: "head" });
  await project.commitCurrent();
  // A shop with tags and little else: its data is made several times
  for (const name of await project.list("db/demo"))
    if (name >= "0200" && name < "1900") await rm(join(project.path, "db/demo", name));
  // The project's migrations are others as long as there is something in db/current
  if (!(await hasCurrentMigration())) await copyPrepared(join(project.path, ".data"));
  watching = project.start(["db", "watch"]);
  [, address = ""] = await watching.said(/The API is at (http:\/\/[^/]+)/);
  const [, path] = await watching.said(/password are in (\S+),/);
  const secrets = await readFile(path!, "utf8");
  const [, id] = /client_id +(\S+)/.exec(secrets)!;
  const [, secret] = /client_secret +(\S+)/.exec(secrets)!;
  await watching.said(/The API follows the database/);
  const answer = await fetch(`${address}/api/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ grant_type: "client_credentials", client_id: id, client_secret: secret }),
  });
  ({ access_token: token } = (await answer.json()) as { access_token: string });
});
after(async () => {
  watching.kill("SIGINT");
  assert.equal(await watching.ended, 0, watching.output());
  await project.remove();
});

async function rows(text: string, database = "erp"): Promise<any[]> {
  const [port, password] = await Promise.all(
    ["port", "password"].map((name) => readFile(join(project.path, ".data", name), "utf8")),
  );
  const client = new pg.Client(`postgres://postgres:${password}@127.0.0.1:${port}/${database}`);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function ask(query: string): Promise<any> {
  const answer = await fetch(`${address}/api/graphql/unstable`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
  return answer.json();
}

const file = "db/current/5-try.sql";
const notes = `drop view if exists api_unstable.notes; drop table if exists erp.note;
create table erp.note (id uuid primary key default uuidv7(), text text not null);
alter table erp.note enable row level security;
create view api_unstable.notes with (security_invoker = true) as select id, text from erp.note;
comment on view api_unstable.notes is E'@primaryKey id\\n@requiresScopes tags:read\\nNotes.';`;
const asked = "{ notes { edges { node { text } } } }";
const tagNames = async (): Promise<string[]> => {
  const { data } = await ask("{ tags(first: 100) { edges { node { name } } } }");
  return data.tags.edges.map(({ node }: any) => node.name);
};

test("deleting a file of db/current undoes what it did; who may log in stays, and the data as it was is kept aside", async () => {
  const demonstrated = await tagNames();
  await project.write(file, notes);
  await until(async () => (await ask(asked)).errors === undefined);
  await rows("insert into erp.note (text) values ('mine'); insert into erp.tag (name) values ('mine')");
  assert.ok((await tagNames()).includes("mine"));
  await watching.said(/Type 'Note' was added/);
  await rm(join(project.path, file));
  await watching.said(
    /5-try\.sql is gone\. The database is recreated without it, with demonstration data\.\n/,
  );
  // What the file had changed may be told in between
  await watching.said(
    /The database is new, in \d+ ms\. Credentials, keys and administrators are kept\. All as it was before is in the database erp_before_reset/,
  );
  await until(async () => (await ask(asked)).errors !== undefined);
  // With the token of before
  await until(async () => (await tagNames().catch(() => [])).length > 0);
  assert.deepEqual(await tagNames(), demonstrated);
  assert.deepEqual(await rows("select to_regclass('erp.note') as note"), [{ note: null }]);
  assert.deepEqual(await rows("select text from erp.note", "erp_before_reset"), [{ text: "mine" }]);
  // The connections that ended with the former database are nobody's news
  await watching.said(/The API has changed:\n(.*\n)* {2}- Type 'Note' was removed/);
  assert.doesNotMatch(watching.output(), /connection error|terminat|unchecked/);
});

test("a check goes on when the database is recreated beside it", async () => {
  await project.write(file, notes);
  await until(async () => (await ask(asked)).errors === undefined);
  const checking = project.start(["db", "check"]);
  const isChecking = "select from pg_database where datname like 'rehearsal\\_________-%'";
  await until(async () => (await rows(isChecking, "postgres")).length > 0);
  await rows("select pg_terminate_backend(pid) from pg_stat_activity where datname = 'erp'", "postgres");
  await checking.ended;
  assert.match(checking.output(), /The check finds nothing|row-level|note/);
  assert.doesNotMatch(checking.output(), /connection|terminat|unchecked/);
  assert.deepEqual(await rows(isChecking, "postgres"), []);
  await rm(join(project.path, file));
});

test("a file that gets another name is not gone", async () => {
  await project.write(file, notes);
  await until(async () => (await ask(asked)).errors === undefined);
  await rows("insert into erp.tag (name) values ('stays')");
  await project.write("db/current/6-try.sql", notes);
  await rm(join(project.path, file));
  await watching.said(/db\/current has been run \(6-try\.sql\)/);
  assert.ok((await tagNames()).includes("stays"));
});

test("erp db reset makes the database anew while the service runs, with db/current and data for it", async (t) => {
  const data = "db/demo/1950-try.sql";
  t.after(() => rm(join(project.path, data)));
  await project.write(data, "-- Notes\ninsert into erp.note (text) values ('shown');");
  const length = watching.output().length;
  const { code, output } = await project.run(["db", "reset"]);
  assert.equal(code, 0, output);
  assert.match(output, /The database is new, in \d+ ms/);
  await until(async () => (await tagNames().catch(() => ["stays"])).every((name) => name !== "stays"));
  await until(async () => (await ask(asked)).errors === undefined);
  assert.deepEqual(await rows("select text from erp.note"), [{ text: "shown" }]);
  assert.doesNotMatch(watching.output().slice(length), /failed|can't/);
});

test("a file that is deleted while nobody watches is noticed at the next start", async () => {
  watching.kill("SIGINT");
  assert.equal(await watching.ended, 0, watching.output());
  await rm(join(project.path, "db/current/6-try.sql"));
  watching = project.start(["db", "watch"]);
  await watching.said(/6-try\.sql is gone\. The database is recreated without it/);
  await watching.said(/All as it was before is in the database erp_before_reset/);
  assert.deepEqual(await rows("select to_regclass('erp.note') as note"), [{ note: null }]);
});

test("erp db reset refuses production, and a database of somebody else's without being told twice", async () => {
  const production = await project.run(["db", "reset"], { NODE_ENV: "production" });
  assert.equal(production.code, 1);
  assert.match(production.output, /This is production/);
  const url = "postgres://admin@db.example/erp";
  const other = await project.run(["db", "reset"], { DATABASE_URL: url });
  assert.equal(other.code, 1);
  assert.match(other.output, /replaces all data in db\.example:5432\/erp\. If you want that, add --erase/);
});
