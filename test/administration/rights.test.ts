import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { loggedIn } from "./browser.ts";

let service: TestService;
before(async () => void (service = await startService()));
after(() => service.close());

/** Tries a statement as a role of the login user, and undoes it. Returns the SQLSTATE of a refusal. */
async function attempt(role: string, statement: string, session = ""): Promise<unknown> {
  const client = new pg.Client({ connectionString: service.loginUrl });
  await client.connect();
  try {
    await client.query(`begin; set local role ${role}`);
    await client.query(
      "select set_config('service.session', $1, true), set_config('service.address', '192.0.2.7', true)",
      [session],
    );
    await client.query(statement);
    return "done";
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await client.end();
  }
}

const refused = "42501"; // insufficient_privilege
const noSession = "28000"; // invalid_authorization_specification

/** Calls of every function of the schema that needs a session. */
async function calls(): Promise<string[]> {
  const { rows } = await service.owner.query<{ name: string; args: string[] }>(
    `select p.oid::regproc::text as name, array(select format_type(t, null) from unnest(p.proargtypes) t) as args
     from pg_proc p where pronamespace = 'administration'::regnamespace
       and proname not in ('password_of', 'start_session', 'note_refused_log_in', 'use_session', 'require_administrator') order by 1`,
  );
  return rows.map(({ name, args }) => `select ${name}(${args.map((type) => `null::${type}`).join(", ")})`);
}

test("without a session that is alive no function does anything", async () => {
  const ended = await loggedIn(service);
  const token = ended.cookies.get("service-session")!;
  const hash = async (text: string) =>
    (await service.owner.query("select encode(sha256($1::bytea), 'hex') as hash", [text])).rows[0].hash;
  await service.owner.query(
    "update auth.administrator_session set last_seen_at = now() - interval '61 minutes'",
  );
  const all = await calls();
  assert.ok(all.length >= 12);
  for (const call of all) {
    for (const session of ["", "00", await hash(token), await hash("as_x")])
      assert.equal(await attempt("service_administration", call, session), noSession, `${call} ${session}`);
  }
});

test("the role of the pages reads and changes no table but the count of failed log-ins", async () => {
  const { rows } = await service.owner.query(
    `select oid::regclass::text as name from pg_class
     where relkind in ('r', 'v', 'p', 'm') and relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
       and (has_table_privilege('service_administration', oid, 'select, insert, update, delete, truncate, references, trigger')
         or has_any_column_privilege('service_administration', oid, 'select, insert, update, references'))`,
  );
  assert.deepEqual(rows, [{ name: "auth.log_in_attempt" }]);
});

/** Functions that send a webhook, or cancel one, without checking a scope. */
const sendings = [
  "events.send_test(uuidv7())",
  "events.send_again(uuidv7())",
  "events.resume_subscription(uuidv7())",
  "events.stop_subscription(uuidv7(), 'x')",
];

test("what asks neither for a session nor for a scope is called by no role that serves requests", async () => {
  for (const role of ["service_api", "service_auth", "service_worker", "service_delivery", "service_login"]) {
    for (const call of sendings)
      assert.equal(await attempt(role, `select ${call}`), refused, `${role} ${call}`);
  }
});

test("no function of the administration reads secrets of webhooks", async () => {
  const { rows } = await service.owner.query(
    "select has_any_column_privilege('service_registrar', 'events.webhook_secret', 'select') as may",
  );
  assert.deepEqual(rows, [{ may: false }]);
});

test("the role of the pages calls nothing of the schema auth, nor mutations", async () => {
  for (const call of [
    "auth.create_credential('x', '{}', 'ak_0123456789abcdef', sha256('x'))",
    "auth.rotate_credential(uuidv7(), 'ak_0123456789abcdef', sha256('x'))",
    "auth.delete_credential(uuidv7())",
    "auth.create_administrator('x', '$argon2id$')",
    "auth.reset_administrator_password('x', '$argon2id$')",
    "auth.note_event('a.b', 'x')",
    "auth.record_use('[]')",
    "auth.signing_keys()",
    "auth.rotate_signing_key(uuidv7(), 'x', '1 minute')",
    "auth.retire_signing_key(uuidv7())",
    "auth.stored_secrets()",
    "auth.authenticate_credential('x', sha256('x'))",
    "auth.note_webhook_event('a.b', uuidv7())",
    ...sendings,
  ])
    assert.equal(await attempt("service_administration", `select ${call}`), refused, call);
});

test("other roles call nothing of the administration", async () => {
  const { rows } = await service.owner.query<{ name: string; args: string[] }>(
    `select p.oid::regproc::text as name, array(select format_type(t, null) from unnest(p.proargtypes) t) as args
     from pg_proc p where pronamespace = 'administration'::regnamespace`,
  );
  for (const role of ["service_api", "service_auth", "service_worker", "service_login"]) {
    for (const { name, args } of rows) {
      const call = `select ${name}(${args.map((type) => `null::${type}`).join(", ")})`;
      assert.equal(await attempt(role, call), refused, `${role} ${call}`);
    }
  }
});

test("the login role can't become the role that owns the functions", async () => {
  assert.equal(await attempt("service_registrar", "select 1"), refused);
});

test("no role of the service but the owner may change or delete events of the audit, or administrators' names; one deletes by age", async () => {
  const { rows } = await service.owner.query(
    `select rolname from pg_roles where rolname like 'service\\_%' and rolname <> 'service_owner'
       and (has_table_privilege(oid, 'auth.audit_event', 'update, truncate')
         or rolname <> 'service_keeper' and has_table_privilege(oid, 'auth.audit_event', 'delete') or has_any_column_privilege(oid, 'auth.audit_event', 'update')
         or has_table_privilege(oid, 'auth.administrator', 'insert, delete, truncate') or has_column_privilege(oid, 'auth.administrator', 'name', 'update'))`,
  );
  assert.deepEqual(rows, []);
});

test("a password that has changed since it was compared starts no session and changes nothing", async () => {
  const visitor = await loggedIn(service, "racer");
  const { rows } = await service.owner.query("select id from auth.administrator where name = 'racer'");
  assert.equal(
    await attempt(
      "service_administration",
      `select administration.start_session('${rows[0].id}', '$argon2id$old', sha256('x'))`,
    ),
    noSession,
  );
  const { rows: hash } = await service.owner.query("select encode(sha256($1::bytea), 'hex') as hash", [
    visitor.cookies.get("service-session"),
  ]);
  assert.equal(
    await attempt(
      "service_administration",
      "select administration.change_password('$argon2id$old', '$argon2id$new')",
      hash[0].hash,
    ),
    noSession,
  );
});

test("scopes that don't exist are refused by the database as well", async () => {
  const visitor = await loggedIn(service);
  const { rows } = await service.owner.query("select encode(sha256($1::bytea), 'hex') as hash", [
    visitor.cookies.get("service-session"),
  ]);
  const call =
    "select administration.create_credential(uuidv7(), 'x', '{moons:read}', 'ak_0123456789abcdef', sha256('x'))";
  assert.equal(await attempt("service_administration", call, rows[0].hash), "22023");
});
