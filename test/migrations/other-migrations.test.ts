import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { withClient } from "../../src/postgres/client.ts";
import { readCommitted } from "../../src/migrations/migration-files.ts";
import { migrateDatabase } from "../../src/migrations/migrations.ts";
import { runCommand } from "../commands/process.ts";
import { readCatalogue, describeDifferences } from "../lib/catalogue.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";

/** The hashes of the first migrations of both times before. */
const firstHash = "sha1:93723be5d05e8cc98ccb5994766a5a7e9824956c";
const formerHash = "sha1:e5617d88ba3752d64d0806b37c14ac32f6fe9bdb";
const says =
  /made by other migrations than those of db\/committed.*nothing in it was changed.*Recreate such a database.*DATA_DIRECTORY.*npx erp db setup/s;

/** The content of a database, including its list of migrations and the password of the service. */
async function contents(client: pg.Client): Promise<Map<string, string>> {
  const catalogue = await readCatalogue(client);
  const queries = {
    migrations: "select * from graphile_migrate.migrations order by filename",
    // Tests that run at the same time make others
    login: "select rolname, rolpassword from pg_authid where rolname = 'service_login'",
    schemas: "select nspname from pg_namespace order by nspname",
  };
  for (const [name, query] of Object.entries(queries))
    catalogue.set(name, JSON.stringify((await client.query(query)).rows));
  return catalogue;
}

async function assertRefusedUntouched(database: TestDatabase, command: string[], url: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  try {
    const asBefore = await contents(client);
    const { code, output } = await runCommand(command, { DATABASE_URL: url });
    assert.equal(code, 1, output);
    assert.match(output, says);
    assert.doesNotMatch(output, /\n\s+at /);
    assert.deepEqual(describeDifferences(asBefore, await contents(client)), []);
  } finally {
    await client.end();
  }
}

async function execute(database: TestDatabase, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}

const setFirstHash = (database: TestDatabase, hash: string) =>
  execute(database, `update graphile_migrate.migrations set hash = '${hash}' where filename = '000001.sql'`);

describe("a database that other migrations made", () => {
  let former: TestDatabase;
  before(async () => {
    former = await openTestDatabase("template_schema");
    // Later hashes follow from the first
    await execute(
      former,
      "alter table graphile_migrate.migrations drop constraint migrations_previous_hash_fkey",
    );
    await setFirstHash(former, formerHash);
  });
  after(() => former.close());

  for (const command of [["db", "setup"], ["db", "watch"], ["start"]]) {
    test(`is refused by ${command.join(" ")}, which says what to do`, () =>
      assertRefusedUntouched(former, command, former.adminUrl));
  }
  test("is not served either, of whichever time", async () => {
    await setFirstHash(former, firstHash);
    await assertRefusedUntouched(former, ["start"], former.loginUrl);
  });
});

test("one whose newest migration was committed anew is refused by its name", async () => {
  const former = await openTestDatabase("template_schema");
  try {
    await execute(
      former,
      `update graphile_migrate.migrations set hash = '${formerHash}'
       where filename = (select max(filename) from graphile_migrate.migrations)`,
    );
    const newest = (await readCommitted()).at(-1)!.name;
    const { code, output } = await runCommand(["db", "setup"], { DATABASE_URL: former.adminUrl });
    assert.equal(code, 1, output);
    assert.match(output, new RegExp(`another db/committed/${newest} than the one here, .*db uncommit`));
    assert.doesNotMatch(output, /\n\s+at /);
  } finally {
    await former.close();
  }
});

test("one whose migrations can't tell which they are is not served", async () => {
  const former = await openTestDatabase("template_schema");
  try {
    await execute(former, "drop function api_meta.first_migration()");
    await assertRefusedUntouched(former, ["start"], former.loginUrl);
  } finally {
    await former.close();
  }
});

test("one that a migration began to make, and none has, is migrated", async () => {
  const blank = await openTestDatabase("template0");
  try {
    await execute(
      blank,
      `create schema graphile_migrate; create table graphile_migrate.migrations (hash text primary key,
         previous_hash text references graphile_migrate.migrations, filename text not null,
         date timestamptz not null default now())`,
    );
    // The first shows it: all of them take eight seconds
    await migrateDatabase(blank.adminUrl, { upTo: 1 });
    await withClient(blank.adminUrl, async (client) => {
      const { rows } = await client.query("select filename from graphile_migrate.migrations");
      assert.deepEqual(rows, [{ filename: "000001.sql" }]);
    });
  } finally {
    await blank.close();
  }
});
