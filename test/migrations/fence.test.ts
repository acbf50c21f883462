import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { runPipelined, PipelinedQuery } from "../../src/postgres/pipeline/pipelined-query.ts";
import { urlOfDatabase } from "../../src/migrations/templates.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { readSettingsFor } from "../../src/versions/context.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";

// The rights of an attacker who injects a statement into one of the API's, on the API's own connections.

const denied = "42501";

let database: TestDatabase;
let pool: pg.Pool;
before(async () => {
  database = await openTestDatabase("template_demo");
  pool = createPool(database.apiUrl, { max: 2 });
});
after(async () => {
  await pool.end();
  await database.close();
});

/** Runs statements in a row, on a connection for this only. Returns the SQLSTATE of the refusal, or null. */
async function attempt(...statements: string[]): Promise<string | null> {
  const client = new pg.Client({ connectionString: database.apiUrl });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
    return null;
  } catch (error) {
    return (error as pg.DatabaseError).code ?? String(error);
  } finally {
    await client.end();
  }
}

const secretRoles = [
  ...["service_login", "service_owner", "service_auth", "service_administration", "service_delivery"],
  ...[
    "service_worker",
    "service_limiter",
    "service_document",
    "service_writer",
    "service_registrar",
    "postgres",
  ],
];

describe("a connection of the API", () => {
  it("logs in as a role that can become service_api and no other role", async () => {
    const { rows } = await pool.query(
      `select session_user::text as who, array_agg(rolname::text order by rolname) as others
       from pg_roles where pg_has_role(session_user, oid, 'member') and rolname <> session_user`,
    );
    assert.deepEqual(rows, [{ who: "service_api_login", others: ["service_api"] }]);
  });

  for (const role of secretRoles) {
    it(`can't become ${role}`, async () => {
      assert.equal(await attempt(`set role ${role}`), denied);
      assert.equal(await attempt("set role service_api", `set role ${role}`), denied);
      assert.equal(await attempt(`set session authorization ${role}`), denied);
      assert.equal(await attempt(`select set_config('role', '${role}', true)`), denied);
    });
  }

  it("gains nothing by giving its role back", async () => {
    for (const back of ["reset role", "set role none", "reset session authorization", "discard all"])
      assert.equal(
        await attempt("set role service_api", back, "select from api_unstable.products"),
        denied,
        back,
      );
  });

  /** Refusals of each role that such a connection can have. */
  const refusals: Record<string, string> = {
    "select secret from events.webhook_secret": denied,
    "select * from auth.signing_key": denied,
    "select * from auth.credential": denied,
    "select * from auth.administrator": denied,
    "select * from pg_authid": denied,
    "create temporary table t ()": denied,
    "create temporary view v as select 1": denied,
    "create function pg_temp.f() returns int language sql as 'select 1'": denied,
    "create table public.t ()": denied,
    "create schema s": denied,
    "create extension dblink": denied,
    "select lo_create(0)": denied,
    "select lo_creat(-1)": denied,
    "select lo_from_bytea(0, 'x')": denied,
    "select lo_get(1)": denied,
    "select lo_import('/etc/passwd')": denied,
    "select pg_notify('service_credential_change', '')": denied,
    "select pg_read_file('postmaster.pid')": denied,
    "copy (select 1) to program 'true'": denied,
    "copy (select 1) to '/tmp/t'": denied,
    "select pg_terminate_backend(pid) from pg_stat_activity where usename in ('postgres', 'service_login')":
      denied,
    "alter system set log_statement = 'all'": denied,
    "set session_replication_role = replica": denied,
    "update erp.product set product_number = 'mine'": denied,
  };
  for (const [statement, code] of Object.entries(refusals)) {
    it(`may not ${statement}`, async () => {
      assert.equal(await attempt(statement), code);
      assert.equal(await attempt("set role service_api", statement), code);
    });
  }

  it("leaves nothing behind in the databases that every cluster has", async () => {
    for (const name of ["postgres", "template1"])
      for (const statement of ["select lo_create(0)", "create temporary table t ()", "create table t ()"]) {
        const client = new pg.Client({ connectionString: urlOfDatabase(database.apiUrl, name) });
        try {
          await assert.rejects(
            client.connect().then(() => client.query(statement)),
            { code: denied },
            name,
          );
        } finally {
          await client.end();
        }
      }
  });

  it("may not change how it logs in, once it is service_api", async () => {
    for (const change of ["password 'mine'", "set statement_timeout = 0", "createrole"])
      assert.equal(await attempt("set role service_api", `alter role service_api_login ${change}`), denied);
  });

  it("can't write by an injection into the statement that answers a read", async () => {
    const caller = { credentialId: "", scopes: new Set<string>(), scopeText: "products:read" };
    const client = await pool.connect();
    const run = (text: string) =>
      new Promise<string | null>((resolve) =>
        client.query(
          new PipelinedQuery(client, readSettingsFor(caller, "en-GB"), { text }, (error) =>
            resolve(error && (error as pg.DatabaseError).code!),
          ),
        ),
      );
    const call = `mutation.run('api_unstable', 'warehouse_create', '{"name": "A", "code": "A"}', null, false)`;
    const scope = "set_config('service.scopes', 'warehouses:write', true)";
    assert.equal(await run("select id from api_unstable.products limit 1"), null);
    assert.equal(await run(`select ${scope}, ${call}`), "25006");
    assert.equal(await run("select set_config('transaction_read_only', 'off', true)"), "25001");
    client.release();
  });

  it("reads all the same", async () => {
    const client = await pool.connect();
    const settings = { role: "service_api", "service.scopes": "products:read" };
    const { rows } = await runPipelined(client, settings, {
      text: "select id from api_unstable.products limit 1",
    });
    client.release();
    assert.equal(rows.length, 1);
  });
});
