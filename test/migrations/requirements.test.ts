import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { connect } from "../../src/postgres/client.ts";
import { checkDatabase, requireVersion } from "../../src/migrations/requirements.ts";
import { UserError } from "../../src/errors/user-error.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";

let database: TestDatabase;
before(async () => void (database = await openTestDatabase("template_schema")));
after(() => database.close());

/** Runs statements as superuser. */
async function execute(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A connection to a server that claims to have a version. */
function serverOf(version: string, number: number): Pick<pg.ClientBase, "query"> {
  const query = () => Promise.resolve({ rows: [{ version, number }] });
  return { query } as unknown as Pick<pg.ClientBase, "query">;
}

/** Asserts that the work is refused with a message for the operator. */
function assertRefused(work: Promise<unknown>, message: RegExp): Promise<void> {
  return assert.rejects(work, (error: Error) => {
    assert.ok(error instanceof UserError, error.stack);
    assert.match(error.message, message);
    return true;
  });
}

test("a Postgres that is too old is refused, with its version and the needed one", async () => {
  const old = serverOf("15.14 (Debian 15.14-0+deb12u1)", 150014);
  await assertRefused(requireVersion(old), /needs Postgres 18 or newer; .* is 15\.14/);
  await assertRefused(requireVersion(serverOf("17.9", 170009)), /is 17\.9/);
});

test("Postgres 18 and those to come are accepted", async () => {
  await requireVersion(serverOf("18.0", 180000));
  await requireVersion(serverOf("19.1", 190001));
});

test("the login role is all that serving needs", async () => {
  assert.deepEqual(await checkDatabase(database.loginUrl), []);
});

test("a superuser may serve, with a warning", async () => {
  const [warning, ...others] = await checkDatabase(database.adminUrl);
  assert.match(warning!, /may do far more .* than serving needs/);
  assert.deepEqual(others, []);
});

test("a role that may not become the narrow ones is refused", async () => {
  const name = `stranger_${process.pid}`;
  await execute(
    database.adminUrl,
    `create role ${name} login password 'hunter2'`,
    `grant usage on schema api_meta to ${name}`,
    `grant execute on function api_meta.migration_count(), api_meta.first_migration() to ${name}`,
  );
  const url = Object.assign(new URL(database.adminUrl), { username: name, password: "hunter2" }).href;
  try {
    const message = new RegExp(`${name} may not become service_api .*npx erp db setup`);
    await assertRefused(checkDatabase(url), message);
  } finally {
    await execute(database.adminUrl, `drop owned by ${name}`, `drop role ${name}`);
  }
});

test("a database that was not set up is refused, with the command that does it", async () => {
  const empty = await openTestDatabase("template0");
  try {
    await assertRefused(checkDatabase(empty.adminUrl), /has not been set up\. Run .*npx erp db setup/);
  } finally {
    await empty.close();
  }
});

test("a database that lacks migrations is refused, with the command that runs them", async () => {
  const behind = await openTestDatabase("template_schema");
  try {
    // More than the files
    await execute(
      behind.adminUrl,
      "create or replace function api_meta.migration_count() returns integer language sql return -1",
    );
    await assertRefused(
      checkDatabase(behind.loginUrl),
      /has had -1 of \d+ migrations\. Run .*npx erp db setup/,
    );
  } finally {
    await behind.close();
  }
});

for (const [what, change] of [
  ["no Postgres answers", { port: "1" }],
  ["the password is wrong", { password: "hunter2" }],
  ["the database doesn't exist", { pathname: "/nowhere" }],
] as const) {
  test(`when ${what}, the message says where, and no password`, async () => {
    const url: URL = Object.assign(new URL(database.loginUrl), change);
    await assertRefused(
      connect(url.href),
      /^Postgres at 127\.0\.0\.1:\d+\/\w+ can't be used: .+\. Check DATABASE_URL\.$/,
    );
    const { message } = (await connect(url.href).catch((error: unknown) => error)) as Error;
    assert.ok(!message.includes(url.password));
  });
}
