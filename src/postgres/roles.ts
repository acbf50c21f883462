import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { UserError } from "../errors/user-error.ts";

/** The roles that log in, see db/roles.sql. They share a password, so that the service needs one URL. */
const logins = ["service_login", "service_api_login"] as const;

const sqlFile = (name: string) => readFile(new URL(`../../db/${name}`, import.meta.url), "utf8");

/** Roles belong to the cluster: set-ups of two databases at the same time would collide. */
const lockRoles = "select pg_advisory_xact_lock(hashtext('roles of the service'))";

/** Makes the roles of db/roles.sql, without passwords. */
export async function ensureRoles(admin: pg.ClientBase): Promise<void> {
  // One batch is one transaction
  await admin.query(`${lockRoles}; ${await sqlFile("roles.sql")}`);
}

export interface RoleOptions {
  /** Whether the login roles get a new password even if they exist. */
  renewPassword: boolean;
  /** Called with what the role of the URL could not do, and who can. */
  onNote?: (note: string) => void;
}

/**
 * Makes the roles, grants them access to the database, and revokes rights from PUBLIC. Can be repeated.
 *
 * @param adminUrl the database, with a superuser or a role that may create roles
 * @returns the URL for the service: the login role, with its password when that is new; else null
 */
export async function setUpRoles(
  adminUrl: string,
  { renewPassword, onNote = () => {} }: RoleOptions,
): Promise<string | null> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  const password = randomBytes(24).toString("base64url");
  let isNew = true;
  const notes: string[] = [];
  try {
    await client.query("begin");
    await client.query(lockRoles);
    const missing = await missingLogins(client);
    isNew = missing.includes("service_login") || renewPassword;
    await client.query(await sqlFile("roles.sql"));
    if (isNew) {
      for (const login of logins)
        await client.query(`alter role ${login} password ${client.escapeLiteral(password)}`);
    } else if (!(await sharePassword(client)) && missing.length > 0) notes.push(noPassword);
    await client.query(await sqlFile("fence.sql"));
    if (await isOpenToPublic(client)) notes.push(notFenced);
    await client.query("commit");
  } catch (cause) {
    // insufficient_privilege
    if (!(cause instanceof pg.DatabaseError) || cause.code !== "42501") throw cause;
    throw new UserError(
      `The role of DATABASE_URL may not set up the database: ${cause.message}. Use a superuser, or the role that may create roles and made those of the service.`,
      { cause },
    );
  } finally {
    await client.end();
  }
  for (const note of notes) onNote(note);
  return isNew ? Object.assign(new URL(adminUrl), { username: "service_login", password }).href : null;
}

const noPassword =
  "Note: service_api_login, which is new, has no password yet. `npm run db:setup -- --new-password` gives both login roles a new one; until then requests are served by service_login.";
const notFenced =
  "Note: every role that can log in may still make temporary tables or large objects, or send notifications in this database, because the role of DATABASE_URL may not change that. A superuser can: `psql -f db/fence.sql`.";

async function missingLogins(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select name from unnest($1::text[]) name where to_regrole(name) is null",
    [logins],
  );
  return rows.map(({ name }) => name);
}

/**
 * Copies the password of service_login, which is not known any more, to service_api_login. @returns whether that was
 * possible
 */
async function sharePassword(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    "select has_table_privilege('pg_catalog.pg_authid', 'select') and rolsuper as may from pg_roles where rolname = current_user",
  );
  if (!rows[0]!.may) return false;
  const { rows: kept } = await client.query<{ verifier: string | null }>(
    "select rolpassword as verifier from pg_authid where rolname = 'service_login'",
  );
  const verifier = kept[0]?.verifier;
  // MD5 hashes include the name of the role
  if (!verifier?.startsWith("SCRAM-SHA-256$")) return false;
  await client.query(`alter role service_api_login password ${client.escapeLiteral(verifier)}`);
  return true;
}

/** Whether PUBLIC still has rights that db/fence.sql revokes. */
async function isOpenToPublic(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ is_open: boolean }>(
    `select has_database_privilege('public', current_database(), 'temporary')
       or has_function_privilege('public', 'pg_catalog.pg_notify(text, text)', 'execute')
       or has_function_privilege('public', 'pg_catalog.lo_create(oid)', 'execute') as is_open`,
  );
  return rows[0]!.is_open;
}

/**
 * The same connection with the role for clients' operations; null when the URL isn't that of service_login, or of the role
 * of a merchant in its place.
 */
export function asApiLogin(url: string): string | null {
  const other = new URL(url);
  const [, whose] = /^(service|merchant_[a-z0-9-]+)_login$/.exec(decodeURIComponent(other.username)) ?? [];
  if (whose === undefined) return null;
  other.username = `${whose}_api_login`;
  return other.href;
}

/** The same connection with the role that owns every object. */
export function urlAsOwner(url: string): string {
  return urlAsRole(url, "service_owner");
}

/**
 * Refuses a role that can't become the owner of every object, and so can't change the database.
 *
 * @throws {UserError} saying whose URL is needed
 */
export async function requireOwner(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ is_owner: boolean | null }>(
    "select pg_has_role(to_regrole('service_owner'), 'set') as is_owner",
  );
  // Null before the set-up; the start has a message for that
  if (rows[0]!.is_owner !== false) return;
  throw new UserError(
    "The role of DATABASE_URL may not change the database, only serve from it. Use a superuser of a database for development, or leave DATABASE_URL out to work on the service's own Postgres.",
  );
}

/** The same connection with another role, and with settings of the session. */
export function urlAsRole(url: string, role: string, settings: Record<string, string> = {}): string {
  const other = new URL(url);
  const options = Object.entries({ role, ...settings }).map(([name, value]) => `-c ${name}=${value}`);
  other.searchParams.set("options", options.join(" "));
  return other.href;
}

/** The database as its owner, with a limit to how long it waits for locks, and a name to be seen by. */
export function migratingUrl(adminUrl: string, application: string, lockTimeoutMs: number): string {
  // For as long as it takes: limits that the role or the database has are meant for requests
  const noTimeouts = { statement_timeout: "0", idle_in_transaction_session_timeout: "0" };
  const url = new URL(
    urlAsRole(adminUrl, "service_owner", { ...noTimeouts, lock_timeout: String(lockTimeoutMs) }),
  );
  url.searchParams.set("application_name", application);
  return url.href;
}
