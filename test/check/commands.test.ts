import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import type { Finding } from "../../src/check/finding.ts";
import { withClient } from "../../src/postgres/client.ts";
import { Project } from "../commands/project.ts";
import type { TestDatabase } from "../lib/database.ts";

type Rehearsal = typeof import("../../src/check/rehearsal.ts");

const file = "db/current/5-try.sql";

// On a copy of the project, as developers have it
let project: Project;
let database: TestDatabase;
let settings: Record<string, string>;
/** What `erp db check` does, without a process of its own. */
let checkCurrent: Rehearsal["checkCurrent"];
before(async () => {
  project = await Project.copy();
  await project.commitCurrent();
  database = await project.database();
  settings = { DATABASE_URL: database.adminUrl };
  ({ checkCurrent } = await project.import<Rehearsal>("src/check/rehearsal.ts"));
});
after(async () => {
  await database.close();
  await project.remove();
});
afterEach(() => rm(join(project.path, file), { force: true }));

const query = (text: string) => withClient(database.adminUrl, (client) => client.query(text));

const mistake = "select 1;\ncreate table erp.leave (id uuid primary key);\n";

test("erp db check refuses what isn't right, without a trace in the database", async () => {
  await project.write(file, mistake);
  const { code, output } = await project.run(["db", "check"], settings);
  assert.equal(code, 1, output);
  assert.match(output, /error row-level-security\n {2}db\/current\/5-try\.sql:2 erp\.leave\n/);
  assert.match(output, /The check refuses: \d+ errors/);
});

test("it passes what is right: a schema of another program is made by its migration where the program isn't; findings for programs are JSON", async (t) => {
  t.after(() => query("drop schema pottery cascade"));
  await query("create schema pottery; create table pottery.kiln (code text primary key)");
  await project.write(file, "select api_meta.expose('pottery');\n");
  const refused = await project.run(["db", "check", "--json"], settings);
  assert.equal(refused.code, 1, refused.output);
  const told = JSON.parse(refused.output) as { refused: boolean; findings: Record<string, string>[] };
  assert.equal(told.refused, true);
  const [{ rule, what, remedy } = {}, ...others] = told.findings;
  assert.deepEqual([rule, others], ["migration-fails", []]);
  assert.match(what!, /There is no schema pottery/);
  assert.match(remedy!, /begin with create … if not exists/);
  await project.write(
    file,
    `create schema if not exists pottery;
     create table if not exists pottery.kiln (code text primary key);
     alter table pottery.kiln enable row level security;
     comment on table pottery.kiln is 'Kilns.';
     select api_meta.expose('pottery');\n`,
  );
  const passed = await project.run(["db", "check"], settings);
  assert.equal(passed.code, 0, passed.output);
});

test("with data it finds what rows of the demonstration shop break, and null where clients are told there is none", async () => {
  const rule = "alter table erp.tag add constraint tag_is_short check (length(name) < 2)";
  const words = "comment on constraint tag_is_short on erp.tag is E'@userError OUT_OF_RANGE name\\nShort.';";
  const view = "comment on column api_unstable.products.purchase_prices is E'@notNull\\nPrices.';";
  await project.write(file, `${rule} not valid;\n${words}\n${view}\n`);
  const named = (findings: readonly Finding[], wanted: string) =>
    findings.find(({ rule }) => rule === wanted);
  assert.equal(named(await checkCurrent(database.adminUrl), "rows-break-rule"), undefined);
  const { output } = await project.run(["db", "check", "--json", "--with-data"], settings);
  const { findings } = JSON.parse(output) as { findings: Finding[] };
  assert.match(named(findings, "rows-break-rule")!.what, /^tag_is_short: .* is violated by some row$/);
  assert.equal(named(findings, "null-for-clients")!.object, "api_unstable.products.purchase_prices");
  await project.write(file, `${rule};\n`);
  const [failure] = await checkCurrent(database.adminUrl, undefined, (ownerUrl) =>
    withClient(
      ownerUrl,
      async (client) => void (await client.query("insert into erp.tag (name) values ('red')")),
    ),
  );
  assert.equal(failure!.rule, "migration-fails");
  assert.match(failure!.what, /tag_is_short.* is violated by some row/);
});

test("erp db commit refuses what the check refuses, and changes nothing", async () => {
  const committed = await project.list("db/committed");
  await project.write(file, mistake);
  const { code, output } = await project.run(["db", "commit", "leave"], settings);
  assert.equal(code, 1, output);
  assert.match(output, /error row-level-security\n[^]*Nothing was committed\./);
  assert.deepEqual(await project.list("db/committed"), committed);
  assert.equal(await project.read(file), mistake);
});

test("erp db setup refuses what would block a database that serves, before anything is changed; the operator may accept it", async () => {
  await project.commit("harmless", "create table erp.early (id uuid primary key);\n");
  await project.commit(
    "dangerous",
    "alter table erp.early enable row level security;\n\ncreate index on erp.tag (lower(name));\n",
  );
  await project.commit(
    "broken-promise",
    "drop schema api_2026_06_unstable cascade;\nselect api_meta.forget_version('api_2026_06_unstable');\n",
  );
  const refused = await project.run(["db", "setup"], settings);
  assert.equal(refused.code, 1, refused.output);
  assert.match(
    refused.output,
    /error index-blocks-writes\n {2}db\/committed\/\d+-dangerous\.sql:6 erp\.tag\n.*\n {2}Remedy: .*concurrently/,
  );
  assert.match(refused.output, /error version-still-served\n {2}api_2026_06_unstable: nobody has used it/);
  assert.match(refused.output, /Nothing was changed/);
  const { rows } = await query("select to_regclass('erp.early') as early");
  assert.equal(rows[0].early, null);
  await project.uncommit();
  const accepted = await project.run(["db", "setup", "--accept", "index-blocks-writes"], settings);
  assert.equal(accepted.code, 0, accepted.output);
  assert.match(accepted.output, /waived index-blocks-writes .*accepted by the operator/);
  assert.notEqual((await query("select to_regclass('erp.early') as early")).rows[0].early, null);
});
