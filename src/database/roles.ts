import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { UserError } from "../errors/user-error.ts";

/**
 * Makes the roles, and lets them into the database. Can be repeated.
 *
 * @param adminUrl the database, as a superuser or a role that may create roles
 * @param options.renewPassword give the login role a new password also when it exists already
 * @returns the URL that the service is to use: the login role, with its password when that is new; else null
 */
export async function setUpRoles(
  adminUrl: string,
  { renewPassword }: { renewPassword: boolean },
): Promise<string | null> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  const password = randomBytes(24).toString("base64url");
  let isNew = true;
  try {
    await client.query("begin");
    // Roles belong to the cluster: two set-ups at once, of two databases, would collide
    await client.query("select pg_advisory_xact_lock(hashtext('roles of the service'))");
    const { rows: roles } = await client.query<{ missing: boolean }>(
      "select to_regrole('service_login') is null as missing",
    );
    isNew = roles[0]!.missing || renewPassword;
    await client.query(await readFile(new URL("../../db/roles.sql", import.meta.url), "utf8"));
    if (isNew) await client.query(`alter role service_login password ${client.escapeLiteral(password)}`);
    const { rows } = await client.query<{ name: string }>("select current_database() as name");
    const database = client.escapeIdentifier(rows[0]!.name);
    await client.query(`grant connect, create on database ${database} to service_owner`);
    await client.query(`grant connect on database ${database} to service_login`);
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
  return isNew ? Object.assign(new URL(adminUrl), { username: "service_login", password }).href : null;
}

/** The same connection, as the role that owns every object. */
export function asOwner(url: string): string {
  return asRole(url, "service_owner");
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
  // Null before the set-up, of which the start tells
  if (rows[0]!.is_owner !== false) return;
  throw new UserError(
    "The role of DATABASE_URL may not change the database, only serve from it. Use a superuser of a database for development, or leave DATABASE_URL out to work on the service's own Postgres.",
  );
}

/** The same connection, as another role, and with settings of the session. */
export function asRole(url: string, role: string, settings: Record<string, string> = {}): string {
  const other = new URL(url);
  const options = Object.entries({ role, ...settings }).map(([name, value]) => `-c ${name}=${value}`);
  other.searchParams.set("options", options.join(" "));
  return other.href;
}
