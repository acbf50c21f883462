import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import pg from "pg";
import { Project } from "../commands/project.ts";
import { readCatalogue, describeDifferences } from "../lib/catalogue.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

type Migrations = typeof import("../../src/migrations/migrations.ts");

// On a copy of the project, to which each test adds a migration, while others use the database
let project: Project;
let database: TestDatabase;
let owner: pg.Client;
let reader: pg.Client;
let asBefore: Map<string, string>;
let migrate: Migrations["migrateDatabase"];
before(async () => {
  project = await Project.copy();
  await project.commitCurrent();
  database = await project.database();
  ({ migrateDatabase: migrate } = await project.import<Migrations>("src/migrations/migrations.ts"));
  owner = new pg.Client({ connectionString: database.ownerUrl });
  reader = new pg.Client({ connectionString: database.ownerUrl, application_name: "a long report" });
  await Promise.all([owner.connect(), reader.connect()]);
  asBefore = await readCatalogue(owner);
});
after(async () => {
  await Promise.all([owner.end(), reader.end()]);
  await database.close();
  await project.remove();
});

const assertUntouched = async () =>
  assert.deepEqual(describeDifferences(asBefore, await readCatalogue(owner)), []);
const reading = "select count(*) from erp.tag";
afterEach(async () => {
  await reader.query("rollback");
  await project.uncommit();
  await owner.query("alter table erp.tag drop column if exists color; drop index if exists erp.tag_by_name");
  await owner.query("delete from graphile_migrate.migrations where filename > $1", [
    `${String((await project.migrations()).length).padStart(6, "0")}.sql`,
  ]);
  await assertUntouched();
});
const held =
  /^0000\d\d-colors\.sql waits for a lock on erp\.tag that process \d+ \(\w+, a long report, since 20\S+Z\) holds\. /;

test("one that waits never holds others up for longer than its time-out, and succeeds when it can", async () => {
  await project.commit("colors", "alter table erp.tag add column color text;");
  await reader.query(`begin; ${reading}`);
  const lines: string[] = [];
  const locks = { lockTimeoutMs: 200, attempts: 100 };
  let isDone = false;
  const migrating = migrate(database.adminUrl, { locks, onWait: (line) => lines.push(line) }).finally(
    () => (isDone = true),
  );
  let longestMs = 0;
  while (lines.length < 4) {
    assert.ok(!isDone);
    const begin = performance.now();
    await owner.query(reading);
    longestMs = Math.max(longestMs, performance.now() - begin);
  }
  assert.ok(longestMs < 5_000, `a read took ${longestMs} ms`);
  assert.match(lines.at(-1)!, held);
  assert.match(lines.at(-1)!, /Attempt 4 of 100; the next in 0\.8 s\.$/);
  await reader.query("rollback");
  await migrating;
  await owner.query("select color from erp.tag");
});

test("one that never gets its lock is given up, with who holds it and what to do", async () => {
  await project.commit("colors", "alter table erp.tag add column color text;");
  await reader.query(`begin; ${reading}`);
  await assert.rejects(
    migrate(database.adminUrl, { locks: { lockTimeoutMs: 200, attempts: 2 } }),
    (error: Error) => {
      assert.equal(error.name, "UserError");
      assert.match(error.message, held);
      assert.match(
        error.message,
        /given up after 2 attempts, and nothing of it was kept.*MIGRATION_LOCK_TIMEOUT/,
      );
      return true;
    },
  );
  await assertUntouched();
});

test("one that waits ends at once when it is to stop", async () => {
  await project.commit("colors", "alter table erp.tag add column color text;");
  await reader.query(`begin; ${reading}`);
  const stopping = new AbortController();
  const onWait = () => {
    stopping.abort();
    stopping.signal.throwIfAborted();
  };
  const locks = { lockTimeoutMs: 100, attempts: 100 };
  await assert.rejects(migrate(database.adminUrl, { locks, onWait }), { name: "AbortError" });
});

test("one may say itself how long it waits", async () => {
  await project.commit(
    "colors",
    "set local lock_timeout = '1min'; alter table erp.tag add column color text;",
  );
  await reader.query(`begin; ${reading}`);
  const migrating = migrate(database.adminUrl, { locks: { lockTimeoutMs: 100, attempts: 1 } });
  await until(async () => {
    const { rows } = await reader.query(
      "select from pg_locks where not granted and relation = 'erp.tag'::regclass and clock_timestamp() - waitstart > '300 ms'",
    );
    return rows.length > 0;
  });
  await reader.query("rollback");
  await migrating;
});

test("one without a transaction that fails says that something may be left", async () => {
  await project.commit(
    "index",
    "--! no-transaction\ncreate index concurrently tag_by_name on erp.tag (nam);",
  );
  await assert.rejects(migrate(database.adminUrl), /-index\.sql failed, and it runs without a transaction/);
});

test("an index that is made concurrently, outside of a transaction, waits for older ones to its end", async () => {
  await project.commit(
    "index",
    "--! no-transaction\ncreate index concurrently tag_by_name on erp.tag (name);",
  );
  await reader.query(`begin isolation level repeatable read; ${reading}`);
  const migrating = migrate(database.adminUrl, { locks: { lockTimeoutMs: 100, attempts: 1 } });
  const index = "select indisvalid from pg_index where indexrelid = to_regclass('erp.tag_by_name')";
  const waits =
    "select from pg_locks where not granted and locktype = 'virtualxid' and clock_timestamp() - waitstart > '300 ms'";
  await until(async () => (await owner.query(waits)).rows.length > 0);
  assert.deepEqual((await owner.query(index)).rows, [{ indisvalid: false }]);
  await reader.query("rollback");
  await migrating;
  assert.deepEqual((await owner.query(index)).rows, [{ indisvalid: true }]);
});
