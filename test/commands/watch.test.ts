import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import pg from "pg";
import { withClient } from "../../src/postgres/client.ts";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";
import { Project } from "./project.ts";
import type { CommandProcess } from "./process.ts";
import { temporaryFolder } from "./process.ts";

const file = "db/current/5-try.sql";

describe("the screen of db:watch", () => {
  let project: Project;
  let database: TestDatabase;
  let watching: CommandProcess;
  before(async () => {
    project = await Project.copy({ versions: "head" });
    await project.commitCurrent();
    database = await project.database();
    await withClient(database.adminUrl, (client) => client.query(`create database ${ownName()}`));
    watching = project.start(["db", "watch"], {
      DATABASE_URL: database.adminUrl,
      MIGRATION_LOCK_ATTEMPTS: "3",
    });
    await watching.said(/The API follows the database/);
  });
  after(async () => {
    watching.kill("SIGINT");
    assert.equal(await watching.ended, 0, watching.output());
    await assert.rejects(
      withClient(shadow(), () => Promise.resolve()),
      /does not exist/,
    );
    await database.close();
    await project.remove();
  });

  const ownName = () => `${new URL(database.adminUrl).pathname.slice(1)}_rehearsal`;
  const rowsIn = (url: string, text: string) =>
    withClient(url, async (client) => (await client.query<Record<string, string>>(text)).rows);

  /** Saves a file, and waits until the screen says each of some things about it. */
  async function saved(text: string | null, patterns: RegExp[]): Promise<void> {
    const length = watching.output().length;
    await (text === null ? rm(join(project.path, file)) : project.write(file, text));
    const said = () => watching.output().slice(length);
    await until(() => patterns.every((pattern) => pattern.test(said())), 120_000).catch(() => {});
    for (const pattern of patterns) assert.match(said(), pattern);
    // Once each
    for (const line of said().match(/^.*\b(has been run|failed).*$/gm) ?? [])
      assert.equal(said().split(line).length, 2, said());
  }

  /** The database on which a migration is tried, when it has had what was saved last. */
  const shadow = () => urlAsOwner(`${database.adminUrl}_rehearsal`);
  const inStep = (text: string) =>
    until(async () => {
      const ran = rowsIn(shadow(), "select content from graphile_migrate.current");
      return (await ran.catch(() => [])).some(({ content }) => content!.includes(text));
    });

  const withNotes = (columns: string, more = "") => `
drop view if exists api_unstable.notes;
drop table if exists erp.note;
create table erp.note (id uuid primary key, text text not null, color text not null);
alter table erp.note enable row level security;
comment on table erp.note is 'A note.'; comment on column erp.note.text is 'What is said.';
comment on column erp.note.color is 'Its color.';
create view api_unstable.notes with (security_invoker = true) as select ${columns} from erp.note;
comment on view api_unstable.notes is E'@primaryKey id\\n@requiresScopes tags:read\\nNotes.';
${more}`;

  test("says what ran, in how long, and what the API has gained", async () => {
    await saved(withNotes("id, text, color"), [
      /db\/current has been run \(5-try\.sql\), in \d+ ms\. The API follows the database\./,
      /The API has changed:\n(.*\n)* {2}\+ .*Note/,
    ]);
  });

  test("a database that is called like its shadow, and isn't, stays", async (context) => {
    // From here on there is a shadow
    context.after(() => rowsIn(database.adminUrl, `drop database if exists ${ownName()}`));
    const line = `A save is tried on the database itself: there is a database ${ownName()} that db:watch hasn't made.`;
    await until(() => watching.output().includes(line));
    assert.equal(watching.output().split(line).length, 2, watching.output());
    assert.deepEqual(await rowsIn(shadow(), "select 'stays' as own"), [{ own: "stays" }]);
  });

  test("a save runs once in the database, and its locks hold up requests once", async () => {
    const withRuns = (text: string) => `create sequence if not exists erp.runs;\n${text}`;
    await saved(withRuns("-- first"), [/has been run/]);
    await inStep("-- first");
    await saved(withRuns("select nextval('erp.runs');"), [/has been run/]);
    assert.deepEqual(await rowsIn(database.ownerUrl, "select last_value from erp.runs"), [
      { last_value: "1" },
    ]);
    await inStep("nextval");
  });

  test("what an earlier save has left in the database, and its shadow hasn't, is still in the API", async () => {
    // Something to tell, so that the answer is awaited
    const more = `drop sequence if exists erp.runs;
create or replace view api_unstable.more with (security_invoker = true) as select id from erp.tag;
comment on view api_unstable.more is E'@primaryKey id\\n@requiresScopes tags:read\\nMore.';`;
    await saved(more, [/has been run/, /\+ Type 'More' was added/]);
    await inStep("api_unstable.more");
    await saved("drop view api_unstable.more;", [/has been run/, /- Type 'More' was removed/]);
    assert.doesNotMatch(watching.output(), /'Note' was removed/);
  });

  test("another function sourcing.plan is tried on recent orders", async () => {
    const plan = (body: string) => `create or replace function sourcing.plan(order_id uuid)
returns setof sourcing.allotment language sql stable as $$ ${body} $$;`;
    await saved(plan("select null::uuid, null::uuid, 1 where false"), [
      /sourcing\.plan has changed\. The newest 0 orders/,
      /split orders +0 before, +0 now/,
    ]);
    await saved(plan("select null::uuid, null::uuid, 1 / 0 where order_id is null"), [
      /sourcing\.plan has changed/,
    ]);
  });

  test("what only works with the rows of the database is run there; what it has lost is said, and what the check finds, with file and line", async () => {
    await rowsIn(database.ownerUrl, "insert into erp.tag (name) values ('red')");
    const needsRows = "do $$ begin if not exists (select from erp.tag) then raise 'no rows'; end if; end $$;";
    await saved(withNotes("id, text", `create table erp.leave (id uuid primary key);\n${needsRows}`), [
      /has been run/,
      /The API has changed:\n(.*\n)* {2}- .*'?color/,
      /error row-level-security\n {2}db\/current\/5-try\.sql:10 erp\.leave/,
    ]);
  });

  test("a lock that others hold for long is waited for, and the save runs when it is free", async () => {
    const blocker = new pg.Client({ connectionString: database.ownerUrl });
    await blocker.connect();
    try {
      await blocker.query("begin; lock erp.salutation");
      await saved("comment on table erp.salutation is 'Free.';", [
        /5-try\.sql\) waits for a lock on erp\.salutation that process \d+/,
        /given up after 3 attempts/,
        /It is tried again until it gets that lock/,
      ]);
      const length = watching.output().length;
      await blocker.query("rollback");
      await until(
        () => /5-try\.sql\), in \d+ ms\. The API follows/.test(watching.output().slice(length)),
        20_000,
      );
      assert.doesNotMatch(watching.output().slice(length), /given up/);
    } finally {
      await blocker.end();
    }
  });

  test("compares with what is committed: whom a lost field breaks", async () => {
    await project.write("README.md", "# Ours\n\n```graphql\n{ tags { edges { node { name } } } }\n```\n");
    const tags = await project.read("db/fixtures/api/tags.sql");
    await saved(
      `drop view api_unstable.tags;\n${tags.replace("select id, name", "select id").replace(/@filters.*\n/, "")}`,
      [
        /warning api-breaking\n(.*\n)* {2}db\/current\/5-try\.sql:\d+ Tag\.name: /,
        /error operation-breaks\n {2}README\.md:4 Cannot query field "name"/,
      ],
    );
  });

  test("a save that changes what all databases share waits no longer than once for its own trial", async (context) => {
    context.after(() =>
      rowsIn(database.adminUrl, "alter role service_owner reset default_statistics_target"),
    );
    await inStep("drop view api_unstable.tags");
    const length = watching.output().length;
    await saved("alter role service_owner set default_statistics_target = 101;", [/has been run/]);
    // At the end a shadow that is still being made would stay
    await inStep("default_statistics_target");
    assert.doesNotMatch(watching.output().slice(length), /Attempt 2/);
  });
});

test("a command ends when the npm that started it is killed", async (context) => {
  const folder = await temporaryFolder();
  context.after(folder.remove);
  const file = join(folder.path, "command.ts");
  const terminal = fileURLToPath(new URL("../../src/commands/terminal.ts", import.meta.url));
  await writeFile(
    file,
    `import { say, untilStopped } from ${JSON.stringify(terminal)};
     setTimeout(() => {}, 20_000);
     await untilStopped(async () => (say("runs"), { stop: async () => say("stopped") }));`,
  );
  // As npm does, by a shell that stays in between
  const npm = spawn("sh", ["-c", `"${process.execPath}" "${file}" 2>&1; true`], {
    env: { ...process.env, npm_lifecycle_script: "node bin/erp.js start" },
  });
  let output = "";
  npm.stdout.on("data", (text) => (output += text));
  await until(() => output.includes("runs"));
  npm.kill("SIGTERM");
  await until(() => /^stopped$/m.test(output));
});

test("no colours where nobody wants any", (context) => {
  // It gives a terminal to a program
  if (spawnSync("script", ["--version"]).status !== 0) return context.skip("there is no program “script”");
  const terminal = fileURLToPath(new URL("../../src/commands/terminal.ts", import.meta.url));
  const program = `import { paint, say } from ${JSON.stringify(terminal)}; say(paint('red', 'text'));`;
  const shown = (environment: Record<string, string>) =>
    execFileSync(
      "script",
      ["-qec", `"${process.execPath}" -e "${program.replaceAll('"', '\\"')}"`, "/dev/null"],
      {
        env: { PATH: process.env.PATH, TERM: "xterm-256color", ...environment },
        encoding: "utf8",
      },
    ).trim();
  const colored = shown({});
  assert.equal(stripVTControlCharacters(colored), "text");
  assert.notEqual(colored, "text");
  assert.equal(shown({ NO_COLOR: "1" }), "text");
});
