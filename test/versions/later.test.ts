import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Project } from "../commands/project.ts";
import type { TestDatabase } from "../lib/database.ts";

// On a copy of the project, for all of this writes into it
let project: Project;
let database: TestDatabase;
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
  const { code, output } = await release("create", "2027-01", "--date", "2027-01-12");
  assert.equal(code, 0, output);
});
after(async () => {
  await database.close();
  await project.remove();
});

const release = (...words: string[]) =>
  project.run(["release", ...words], { DATABASE_URL: database.adminUrl });

test("a release has a page for clients, with what is different from the version before", async () => {
  const page = await project.read("docs/versions/2027-01.md");
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
