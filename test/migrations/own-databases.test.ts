import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";
import pg from "pg";
import { withClient } from "../../src/postgres/client.ts";
import {
  addMerchantDatabase,
  merchantDatabaseName,
  dropMerchantDatabase,
} from "../../src/merchants/merchant-database.ts";
import { copyTemplate } from "../../src/migrations/templates.ts";
import { dropDatabase } from "../../src/migrations/own-databases.ts";
import { nameReplaced, replaceDatabase } from "../../src/migrations/replace.ts";
import { UserError } from "../../src/errors/user-error.ts";

// Databases that commands find by their names: none is dropped that they haven't made. That of db:watch:
// test/commands/watch.test.ts, that of graphile-migrate: test/commands/graphile-migrate.test.ts

const adminUrl = process.env.TEST_ADMIN_URL!;
let admin: pg.Client;
before(async () => {
  admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
});
after(() => admin.end());

const databases = async (pattern: string): Promise<string[]> => {
  const { rows } = await admin.query<{ name: string }>(
    "select datname as name from pg_database where datname ~ $1 order by oid",
    [pattern],
  );
  return rows.map(({ name }) => name);
};
const commentOf = async (name: string): Promise<string | null> => {
  const { rows } = await admin.query<{ comment: string | null }>(
    "select shobj_description(oid, 'pg_database') as comment from pg_database where datname = $1",
    [name],
  );
  return rows[0]!.comment;
};
/** Makes empty databases, which are gone after the test. */
async function makeAll(context: TestContext, ...names: string[]): Promise<void> {
  context.after(async () => {
    for (const name of names) await dropDatabase(admin, name);
  });
  for (const name of names)
    await admin.query(`create database "${name}" template template0 strategy file_copy`);
}

test("db:reset drops what it has kept itself, and no other database of that name", async (context) => {
  const name = `reset_${randomUUID()}`;
  const aside = nameReplaced(name);
  await makeAll(context, name, `${name}_1`, `${name}_2`, aside);
  await admin.query(`comment on database "${name}" is 'Shop'`);
  const before = await databases(`^${name}`);
  await assert.rejects(
    replaceDatabase(admin, name, `${name}_1`),
    new UserError(`There is a database ${aside} that db:reset hasn't made: rename it, or drop it.`),
  );
  assert.deepEqual(await databases(`^${name}`), before);
  await dropDatabase(admin, aside);
  // One that can't be replaced stays as it was
  await assert.rejects(replaceDatabase(admin, name, `${name}_3`), { code: "3D000" });
  assert.equal(await commentOf(name), "Shop");
  await replaceDatabase(admin, name, `${name}_1`);
  await replaceDatabase(admin, name, `${name}_2`);
  assert.deepEqual((await databases(`^${name}`)).sort(), [name, aside].sort());
});

test("what is kept of a database with the longest name doesn't take the place of that one", async (context) => {
  const name = `reset_${randomUUID()}`.padEnd(63, "x");
  const by = name.replace("reset", "other");
  await makeAll(context, name, by, nameReplaced(name));
  await dropDatabase(admin, nameReplaced(name));
  await replaceDatabase(admin, name, by);
  assert.equal((await databases(`^${name}$|^${nameReplaced(name)}$`)).length, 2);
});

test("templates that are dropped are those that were made as such", async (context) => {
  const kind = `service_template_${randomUUID()}`;
  const copy = `copy_${randomUUID()}`;
  const made = [1, 2, 3, 4, 5, 6].map((number) => `${kind}_${number}`);
  await makeAll(context, `${kind}_mine`);
  context.after(async () => {
    for (const name of [copy, ...made]) await dropDatabase(admin, name);
  });
  for (const template of made) {
    await copyTemplate(admin, adminUrl, copy, {
      template,
      make: async (name) =>
        void (await admin.query(`create database "${name}" template template0 strategy file_copy`)),
    });
    await dropDatabase(admin, copy);
  }
  assert.deepEqual(await databases(`^${kind}`), [`${kind}_mine`, ...made.slice(2)]);
});

test("of two who add the same merchant, the second neither drops its database nor changes its password", async () => {
  const merchant = `twice-${process.pid}`;
  try {
    const both = await Promise.allSettled(
      [1, 2].map(() => addMerchantDatabase(adminUrl, merchant, { template: "template_committed" })),
    );
    const added = both.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const refused = both.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
    assert.match(refused.join("\n"), /^.*There is already a database.*$/);
    assert.deepEqual(
      await withClient(added[0]!, async (client) => (await client.query("select 1 as one")).rows),
      [{ one: 1 }],
    );
  } finally {
    await dropMerchantDatabase(adminUrl, merchant, merchantDatabaseName(merchant));
  }
});
