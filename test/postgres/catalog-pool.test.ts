import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type pg from "pg";
import { makeSchema } from "postgraphile";
import { createPreset } from "../../plugins/index.ts";
import { openDatabaseAccess, withPgService } from "../../src/postgres/pg-service.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";

let database: TestDatabase;
let pool: pg.Pool;
let apiPool: pg.Pool;
before(async () => {
  database = await openTestDatabase("template_schema");
  pool = createPool(database.loginUrl, { max: 1 });
  apiPool = createPool(database.apiUrl, { max: 1 });
});
after(async () => {
  await pool.end();
  await apiPool.end();
  await database.close();
});

test("reading the catalog waits for a connection longer than a request does", async () => {
  pool.options.connectionTimeoutMillis = 1;
  const access = openDatabaseAccess(apiPool, { catalogOf: pool, fastReads: true });
  const { schema } = await makeSchema(
    createPreset({ pgService: access.pgService, schemaName: "api_unstable" }),
  );
  assert.ok(schema.getType("Product"));
  await access.close();
});

test("a connection that Postgres ends fails what is under way on it, and is printed nowhere", async (t) => {
  const print = t.mock.method(console, "error", () => {});
  await withPgService(database.adminUrl, async ({ adaptorSettings }) => {
    const client = await adaptorSettings!.pool!.connect();
    const ended = new Promise((done) => client.once("end", done));
    await assert.rejects(client.query("select pg_terminate_backend(pg_backend_pid())"), { code: "57P01" });
    await ended;
    client.release(true);
  });
  assert.equal(print.mock.callCount(), 0);
});
