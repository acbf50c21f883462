import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { UserError } from "../errors/user-error.ts";

/** The login roles, see db/roles.sql. They share a password, so that the service needs only one URL. */
const logins = ["service_login", "service_api_login"] as const;

const sqlFile = (name: string) => readFile(new URL(`../../db/${name}`, import.meta.url), "utf8");

/** Roles belong to the cluster: set-ups of two databases at once would collide. */
const lockRoles = "select pg_advisory_xact_lock(hashtext('roles of the service'))";

export interface RoleOptions {
  /** Whether the login roles get a new password even if they exist. */
  renewPassword: boolean;
  /** Called with notes about things that the URL's role could not do, and how to do them. */
  onNote?: (note: string) => void;
}

/** Creates the roles that all databases of the cluster use. Other set-ups wait until the transaction ends. */
export async function ensureRoles(admin: pg.ClientBase): Promise<void> {
  // One batch is one transaction
  await admin.query(`${lockRoles}; ${await sqlFile("roles.sql")}`);
}

/**
 * Creates the roles, grants them access to the database, and revokes rights from PUBLIC. Can be repeated.
 *
 * @param adminUrl the database, with a superuser or a role that may create roles
 * @returns the URL for the service, with the login role and its password if that is new; else null
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
    } else if (!(await copyPassword(client)) && missing.length > 0) notes.push(noPasswordNote);
    await client.query(await sqlFile("fence.sql"));
    if (await isOpenToPublic(client)) notes.push(notFencedNote);
    await client.query("commit");
  } catch (cause) {
    // insufficient_privilege
    if (!(cause instanceof pg.DatabaseError) || cause.code !== "42501") throw cause;
    throw new UserError(
      `The role in DATABASE_URL is not allowed to set up the database: ${cause.message}. Use a superuser, or the role that created the service's roles.`,
      { cause },
    );
  } finally {
    await client.end();
  }
  for (const note of notes) onNote(note);
  return isNew ? Object.assign(new URL(adminUrl), { username: "service_login", password }).href : null;
}

const noPasswordNote =
  "Note: the new role service_api_login has no password yet. Run `npx erp db setup --new-password` to give both login roles a new one. Until then, requests are served by service_login.";
const notFencedNote =
  "Note: every login role can still create temporary tables and large objects, and send notifications in this database. The role in DATABASE_URL may not change that, but a superuser can: `psql -f db/fence.sql`.";

async function missingLogins(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select name from unnest($1::text[]) name where to_regrole(name) is null",
    [logins],
  );
  return rows.map(({ name }) => name);
}

/**
 * Copies the hash of service_login's password, which is no longer known, to service_api_login. @returns whether that was
 * possible
 */
async function copyPassword(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    "select has_table_privilege('pg_catalog.pg_authid', 'select') and rolsuper as may from pg_roles where rolname = current_user",
  );
  if (!rows[0]!.may) return false;
  const { rows: kept } = await client.query<{ verifier: string | null }>(
    "select rolpassword as verifier from pg_authid where rolname = 'service_login'",
  );
  const verifier = kept[0]?.verifier;
  // MD5 hashes depend on the role's name
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
 * Returns the URL with the role for clients' operations; null if its role isn't service_login or a merchant's role for the
 * same purpose.
 */
export function toApiLoginUrl(url: string): string | null {
  const other = new URL(url);
  const [, owner] = /^(service|merchant_[a-z0-9-]+)_login$/.exec(decodeURIComponent(other.username)) ?? [];
  if (owner === undefined) return null;
  other.username = `${owner}_api_login`;
  return other.href;
}

/** Returns the URL with the role that owns every object. */
export function urlAsOwner(url: string): string {
  return urlAsRole(url, "service_owner");
}

/**
 * Refuses a role that can't become the owner of all objects, and so can't change the database.
 *
 * @throws {UserError} saying which URL is needed
 */
export async function requireOwner(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ is_owner: boolean | null }>(
    "select pg_has_role(to_regrole('service_owner'), 'set') as is_owner",
  );
  // Null before the set-up; the service has a message for that when it starts
  if (rows[0]!.is_owner !== false) return;
  throw new UserError(
    "The role in DATABASE_URL may use the database, but not change it. Use a superuser of a development database, or remove DATABASE_URL to work on the service's own Postgres.",
  );
}

/** Returns the URL with another role, and with settings of the session. */
export function urlAsRole(url: string, role: string, settings: Record<string, string> = {}): string {
  const other = new URL(url);
  const options = Object.entries({ role, ...settings }).map(([name, value]) => `-c ${name}=${value}`);
  other.searchParams.set("options", options.join(" "));
  return other.href;
}

/** Returns the URL with the owner's role, an application name, and a limit for waiting for locks. */
export function toMigrationUrl(adminUrl: string, application: string, lockTimeoutMs: number): string {
  // Without time limits: the role and the database have limits for requests
  const noTimeouts = { statement_timeout: "0", idle_in_transaction_session_timeout: "0" };
  const url = new URL(
    urlAsRole(adminUrl, "service_owner", { ...noTimeouts, lock_timeout: String(lockTimeoutMs) }),
  );
  url.searchParams.set("application_name", application);
  return url.href;
}
