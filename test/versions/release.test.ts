import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { Project } from "../commands/project.ts";
import type { TestDatabase } from "../lib/database.ts";

// On a copy of the project, because a release writes into it
let project: Project;
let database: TestDatabase;
let settings: Record<string, string>;
before(async () => {
  project = await Project.copy();
  await project.commitCurrent();
  database = await project.database();
  settings = { DATABASE_URL: database.adminUrl };
});
after(async () => {
  await database.close();
  await project.remove();
});

const release = (...words: string[]) => project.run(["release", ...words], settings);
const read = (path: string) => project.read(path);
const migrations = async () => (await project.list("db/committed")).length;

for (const [words, message] of [
  [["2027-02"], /no name of a version/],
  [["../2027-01"], /no name of a version/],
  [["2027-01", "--date", "2027-02-01"], /named for the month/],
  [["2027-01", "--date", "2027-01-99"], /no date/],
  [["2026-06-unstable"], /There is a version/],
] as const) {
  test(`release ${words.join(" ")} is refused, and leaves all as it was`, async () => {
    const count = await migrations();
    const { code, output } = await release("create", ...words);
    assert.equal(code, 1);
    assert.match(output, message);
    assert.equal(await migrations(), count);
  });
}

test("releasing freezes unstable, also while a process runs db/current at every change", async () => {
  const watching = project.start(["db", "watch"], settings);
  try {
    await watching.said(/The API follows the database/);
    const count = await migrations();
    const { code, output } = await release("create", "2027-01", "--date", "2027-01-12");
    assert.equal(code, 0, output);
    assert.equal(await migrations(), count + 1);
    assert.equal(await read("schema/2027-01.graphql"), await read("schema/unstable.graphql"));
    assert.equal(await read("schema/released/2027-01.graphql"), await read("schema/unstable.graphql"));
    const list = JSON.parse(await read("src/versions/versions.json"));
    assert.deepEqual(list.slice(-2), [{ slug: "2027-01", releasedOn: "2027-01-12" }, { slug: "unstable" }]);
    assert.equal((await release("create", "2027-01", "--date", "2027-01-12")).code, 1);
    assert.deepEqual(await project.list("db/current"), ["1-current.sql"]);
  } finally {
    watching.kill("SIGINT");
    await watching.ended;
  }
  // The watched database gets the release like any other database
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  const { rows } = await client.query("select to_regnamespace('api_2027_01') as found");
  await client.end();
  assert.equal(rows[0].found, null);
  const { code, output } = await project.run(["db", "setup"], settings);
  assert.equal(code, 0, output);
  const service = project.start(["start"], settings);
  try {
    const [, address] = await service.said(/The API is at (http:\S+?)\/api/);
    // It is healthy only when all versions could be built, and are as they were released
    assert.deepEqual(await (await fetch(`${address}/healthz`)).json(), { status: "ok" });
    const { versions } = (await (await fetch(`${address}/api/versions`)).json()) as { versions: any[] };
    assert.ok(versions.some(({ slug }) => slug === "2027-01"));
  } finally {
    service.kill("SIGINT");
    await service.ended;
  }
});

test("and while a migration is being written, nothing is released", async () => {
  await project.write("db/current/0001-something.sql", "select 1;");
  const { code, output } = await release("create", "2027-04", "--date", "2027-04-01");
  assert.equal(code, 1);
  assert.match(output, /migration in db\/current/);
});

test("the difference to the head is that of the SQL at hand, whether its schema file is written or not", async () => {
  const later = `create view api_unstable.shades with (security_invoker = true) as select id from erp.tag;
comment on view api_unstable.shades is E'@primaryKey id\\n@requiresScopes tags:read\\nShades.';`;
  await project.write("db/current/0001-something.sql", later);
  const { code, output } = await release("diff", "2027-01", "unstable");
  assert.equal(code, 0, output);
  assert.match(output, /shades/);
});
