import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { Project } from "../commands/project.ts";
import type { TestDatabase } from "../lib/database.ts";

// On a copy of the project, because a release writes into it. The tests follow one release through its life
let project: Project;
let database: TestDatabase;
let settings: Record<string, string>;
before(async () => {
  project = await Project.copy();
  await project.commitCurrent();
  await project.commit(
    "topics",
    `insert into events.topic (name, subject_type, scope, description)
       values ('batch.deleted', 'Batch', 'batches:read', 'A batch was deleted.');
     insert into events.occasion (topic, operation) values ('batch.deleted', 'delete');
     delete from events.field where subject_type = 'Batch' and name = 'physicalStock';`,
  );
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

test("a release has a page for clients, with what is different from the version before", async () => {
  const page = await read("docs/versions/2027-01.md");
  assert.match(
    page,
    /^# Version 2027-01\n\nReleased on 2027-01-12, at `\/api\/graphql\/2027-01`\. Clients of 2026-06-unstable/,
  );
  assert.match(page, /## New\n\n(- `[^`]+`\n)+/);
  assert.match(page, /## Events\n\n[^]*- Breaking: batch\.created\.data\.physicalStock is gone\.\n/);
  assert.match(page, /\n- New: `batch\.deleted`\n/);
});

test("diff tells clients of one version what is different in another", async () => {
  const { code, output } = await release("diff", "2026-06-unstable", "2027-01");
  assert.equal(code, 0, output);
  assert.match(output, /## New\n\n[^]*- `Event`\n/);
  assert.match((await release("diff", "2027-01", "unstable")).output, /Nothing has changed\./);
  assert.match((await release("diff", "2027-01", "2030-01")).output, /There is no version 2030-01/);
});

describe("while a migration is being written", () => {
  const file = "db/current/0001-something.sql";
  after(() => rm(join(project.path, file)));

  test("nothing is released", async () => {
    await project.write(file, "select 1;");
    const { code, output } = await release("create", "2027-04", "--date", "2027-04-01");
    assert.equal(code, 1);
    assert.match(output, /migration in db\/current/);
  });

  test("the difference to the head is that of the SQL at hand, whether its schema file is written or not", async () => {
    const later = `create view api_unstable.shades with (security_invoker = true) as select id from erp.tag;
comment on view api_unstable.shades is E'@primaryKey id\\n@requiresScopes tags:read\\nShades.';`;
    await project.write(file, later);
    const { code, output } = await release("diff", "2027-01", "unstable");
    assert.equal(code, 0, output);
    assert.match(output, /shades/);
  });
});

test("extend gives a stable version a column that a view has gained, and refuses what would break it", async () => {
  const view = (columns: string) => `
    drop view api_unstable.tags;
    create view api_unstable.tags with (security_invoker = true) as select ${columns} from erp.tag;
    comment on view api_unstable.tags is $$${note}$$;`;
  const fixture = await project.read("db/fixtures/api/tags.sql");
  const [, columns, note] = /select (.*?)\s+from erp\.tag;.*?is \$\$(.*?)\$\$/s.exec(
    fixture,
  )! as unknown as string[];
  await project.commit(
    "color",
    `alter table erp.tag add column color text;
     comment on column erp.tag.color is 'Color of the label.';
     ${view(`${columns}, color`)}`,
  );
  const grown = await release("extend", "2027-01", "tags");
  assert.equal(grown.code, 0, grown.output);
  assert.match(grown.output, /2027-01 has grown:\n\n## New\n\n- `Tag\.color`/);
  assert.match(
    await project.read("schema/2027-01.graphql"),
    /"""Color of the label\."""\n {2}color: String\n/,
  );
  assert.doesNotMatch(await project.read("schema/released/2027-01.graphql"), /Color of the label/);

  const preview = await release("extend", "2026-06-unstable", "tags");
  assert.equal(preview.code, 1);
  assert.match(preview.output, /no stable version/);
  await project.commit("fewer", view(columns!));
  const count = (await project.list("db/committed")).length;
  const broken = await release("extend", "2027-01", "tags");
  assert.notEqual(broken.code, 0);
  assert.equal((await project.list("db/committed")).length, count);
});

test("retire drops a version that has ended, and no other", async () => {
  const early = await release("retire", "2027-01");
  assert.equal(early.code, 1);
  assert.match(early.output, /is served until 2028-02-01/);
  assert.match((await release("retire", "unstable")).output, /no version unstable that could end/);
  const list = JSON.parse(await project.read("src/versions/versions.json")) as { slug: string }[];
  const past = list.toSpliced(0, 0, { slug: "2020-02-unstable", releasedOn: "2020-02-01" } as {
    slug: string;
  });
  past.splice(1, 0, { slug: "2021-01", releasedOn: "2021-01-10" } as { slug: string });
  await project.write("src/versions/versions.json", JSON.stringify(past));
  await project.commit("past", "select api_meta.freeze('api_unstable', 'api_2020_02_unstable');");
  const { code, output } = await release("retire", "2020-02-unstable");
  assert.equal(code, 0, output);
  assert.doesNotMatch(await project.read("src/versions/versions.json"), /2020-02-unstable/);
  const newest = (await project.list("db/committed")).at(-1)!;
  assert.match(newest, /retire-2020-02-unstable/);
});
