import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

const functions = {
  read: [
    "auth.active_scopes('ak_0123456789abcdef')",
    "auth.stored_operations()",
    "auth.stored_document('00')",
    "auth.authenticate_credential('ak_0123456789abcdef', sha256('x'))",
    "auth.signing_keys()",
    "auth.add_first_signing_key(uuidv7(), encode(sha256('x'), 'base64'))",
    "auth.stored_secrets()",
    "auth.supported_locales()",
    "auth.is_session(sha256('x'))",
    "auth.record_use('[]')",
  ],
  administrate: [
    "auth.create_credential('x', '{}', 'ak_0123456789abcdef', sha256('x'))",
    "auth.rotate_credential(uuidv7(), 'ak_0123456789abcdef', sha256('x'))",
    "auth.limit_credential(uuidv7(), '1 hour')",
    "auth.prune_credentials(10)",
    "auth.change_credential(uuidv7(), 'x', '{}')",
    "auth.activate_credential(uuidv7())",
    "auth.deactivate_credential(uuidv7())",
    "auth.delete_credential(uuidv7())",
    "auth.restrict_operations(uuidv7(), true)",
    "auth.publish_operations('unstable', null, '[]')",
    "auth.remove_operations(null, null, '{}')",
    "auth.create_administrator('x', '$argon2id$')",
    "auth.reset_administrator_password('x', '$argon2id$')",
    "auth.deactivate_administrator('x')",
    "auth.rotate_signing_key(uuidv7(), encode(sha256('x'), 'base64'), '1 minute')",
    "auth.retire_signing_key(uuidv7())",
    "auth.erase_retired_keys()",
    "auth.secrets_key_id('x')",
    "auth.note_event('a.b', 'x')",
    "auth.acting_administrator()",
  ],
};
const tables = [
  "auth.credential",
  "auth.credential_secret",
  "auth.stored_operation",
  "auth.stored_operation_overview",
  "auth.signing_key",
  "auth.signing_key_overview",
  "auth.credential_overview",
  "auth.credential_use",
  "auth.field_use",
  "auth.operation",
  "auth.operation_use",
  "auth.operation_overview",
  "auth.administrator",
  "auth.administrator_session",
  "auth.live_session",
  "auth.log_in_attempt",
  "auth.audit_event",
];

/** Tries a statement as a role of the login user, and undoes it. Returns the SQLSTATE of a refusal. */
async function attempt(role: string | null, statement: string, settings: Record<string, string> = {}) {
  const client = new pg.Client({ connectionString: service.loginUrl });
  await client.connect();
  try {
    await client.query("begin");
    if (role) await client.query(`set local role ${role}`);
    for (const setting of Object.entries(settings))
      await client.query("select set_config($1, $2, true)", setting);
    return (await client.query({ text: statement, rowMode: "array" })).rows[0]?.[0];
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await client.end();
  }
}

const refused = "42501"; // insufficient_privilege

test("the role for token exchange may call its functions and nothing else", async () => {
  for (const call of functions.read)
    assert.notEqual(await attempt("service_auth", `select ${call}`), refused, call);
  for (const call of functions.administrate) {
    assert.equal(await attempt("service_auth", `select ${call}`), refused, call);
  }
  for (const table of tables)
    assert.equal(await attempt("service_auth", `select * from ${table}`), refused, table);
});

test("the role of the API, and the login role itself, may do nothing about credentials", async () => {
  for (const role of ["service_api", null]) {
    for (const call of [...functions.read, ...functions.administrate]) {
      assert.equal(await attempt(role, `select ${call}`), refused, call);
    }
    for (const table of tables) assert.equal(await attempt(role, `select * from ${table}`), refused, table);
  }
});

test("row-level security is on for every table of the schema", async () => {
  const { rows } = await service.owner.query(
    "select relname from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r' and not relrowsecurity",
  );
  assert.deepEqual(rows, []);
});

test("every function pins its search_path", async () => {
  const { rows } = await service.owner.query(
    `select proname from pg_proc where pronamespace = 'auth'::regnamespace and prosqlbody is null
       and not exists (select from unnest(proconfig) as setting where setting ^@ 'search_path=')`,
  );
  assert.deepEqual(rows, []);
});

test("everything has a description", async () => {
  const { rows } = await service.owner.query(
    `select proname from pg_proc where pronamespace = 'auth'::regnamespace and obj_description(oid, 'pg_proc') is null
     union all select relname from pg_class where relnamespace = 'auth'::regnamespace and relkind in ('r', 'v') and obj_description(oid, 'pg_class') is null`,
  );
  assert.deepEqual(rows, []);
});

test("has_scope holds for any of its scopes, and for none without the setting", async () => {
  const held = { "service.scopes": "a:read b:read" };
  const has = (scopes: string, settings?: Record<string, string>) =>
    attempt("service_api", `select auth.has_scope(${scopes})`, settings);
  assert.equal(await has("'a:read'", held), true);
  assert.equal(await has("'c:read', 'b:read'", held), true);
  assert.equal(await has("'c:read'", held), false);
  assert.equal(await has("'a'", held), false);
  assert.equal(await has("'a:read b:read'", held), false);
  assert.equal(await has("'a:read'", { "service.scopes": "" }), false);
  assert.equal(await has("''", { "service.scopes": "" }), false);
  assert.equal(await has("'a:read'"), false);
});

test("scopes of a credential have their form, and write comes with read", async () => {
  const isList = async (scopes: string) => {
    const { rows } = await service.owner.query("select auth.is_scope_list($1) as ok", [scopes]);
    return rows[0].ok;
  };
  assert.equal(await isList("{}"), true);
  assert.equal(await isList("{a:read,b_c:read,b_c:write}"), true);
  for (const bad of ["{a:write}", "{a}", "{A:read}", "{a:own}", "{null}", '{"a:read b:read"}', '{""}']) {
    assert.equal(await isList(bad), false, bad);
  }
});
