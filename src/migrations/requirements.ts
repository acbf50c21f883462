import type pg from "pg";
import { UserError } from "../errors/user-error.ts";
import { formatAddress, withClient } from "../postgres/client.ts";
import { requireMigrated } from "./migrations.ts";
import { startOptions } from "../postgres/pool.ts";
import { losesStatements, poolerAdvice } from "../postgres/pooler.ts";
import { toApiLoginUrl } from "../postgres/roles.ts";

const oldestMajor = 18;
/** Roles that the service takes, see db/roles.sql. */
const narrowRoles = [
  "service_api",
  "service_auth",
  "service_document",
  "service_worker",
  "service_limiter",
  "service_administration",
  "service_delivery",
];

/**
 * Checks a database before the service uses it.
 *
 * @returns warnings
 * @throws {UserError} when the service can't run on it
 */
export async function checkDatabase(url: string, uses: PoolerUses = {}): Promise<string[]> {
  const begin = startOptions(undefined, { [probe]: "on" });
  const work = async (client: pg.Client) => {
    await requireVersion(client);
    await requireMigrated(client);
    await requireQueue(client);
    if (uses.preparedStatements) await requireStatements(url);
    return [...(await findExcessRights(client)), ...(await findPoolerWarnings(client, uses))];
  };
  return withClient(url, work, begin);
}

/** Settings that may not work behind a pooler. */
export interface PoolerUses {
  preparedStatements?: boolean;
  jobConcurrency?: number;
  webhookConcurrency?: number;
}

/** A setting without effect, to test whether connections get their start-up settings. */
const probe = "service.start";

/** Behind a pooler that ignores start-up settings, each connection has, for example, the role that logs in. */
async function findPoolerWarnings(client: pg.Client, uses: PoolerUses): Promise<string[]> {
  const { jobConcurrency = 0, webhookConcurrency = 0 } = uses;
  if (jobConcurrency === 0 && webhookConcurrency === 0) return [];
  const { rows } = await client.query<{ value: string | null }>("select current_setting($1, true) as value", [
    probe,
  ]);
  if (rows[0]!.value === "on") return [];
  return [
    "DATABASE_URL leads to a pooler that ignores the settings of connections, such as PgBouncer. Background work and webhooks need a direct connection: set WORKER_CONCURRENCY=0 and WEBHOOK_CONCURRENCY=0 here, and run a process with a direct one beside it.",
  ];
}

/** @throws {UserError} behind a pooler on which requests would fail, for their prepared statements are on other servers */
async function requireStatements(url: string): Promise<void> {
  if (!(await losesStatements((work) => withClient(url, work, startOptions())))) return;
  throw new UserError(
    `The pooler at ${formatAddress(url)} doesn't keep track of prepared statements, so requests would fail. ${poolerAdvice}`,
  );
}

/**
 * Finds out whether clients' operations can have connections of their own role, from which no secret can be reached.
 *
 * @returns the URL for them, and warnings
 */
export async function findApiLogin(url: string): Promise<{ apiUrl: string; warning: string | null }> {
  const apiUrl = toApiLoginUrl(url);
  // `checkDatabase` warns of any other role, if it may do too much
  if (apiUrl === null) return { apiUrl: url, warning: null };
  try {
    await withClient(apiUrl, (client) => client.query("select"));
    return { apiUrl, warning: null };
  } catch (error) {
    const { code, message } = (error instanceof UserError ? error.cause : error) as pg.DatabaseError;
    if (!refusals.has(code ?? "")) throw error;
    return {
      apiUrl: url,
      warning: `The role service_api_login can't be used (${message}), so clients' operations run on connections of service_login, which can also become the roles that see secrets. \`npx erp db setup --new-password\` gives both roles one password; PgBouncer has to know both.`,
    };
  }
}

/** Host refused, wrong password, unknown to PgBouncer, no right to connect to this database. */
const refusals = new Set(["28P01", "28000", "08P01", "42501"]);

/** @throws {UserError} when Postgres is older than the migrations need */
export async function requireVersion(client: Pick<pg.ClientBase, "query">): Promise<void> {
  const { rows } = await client.query<{ version: string; number: number }>(
    "select current_setting('server_version') as version, current_setting('server_version_num')::int as number",
  );
  const { version, number } = rows[0]!;
  if (number < oldestMajor * 10_000) {
    throw new UserError(
      `This service needs Postgres ${oldestMajor} or newer; the one at DATABASE_URL is ${version}.`,
    );
  }
}

/** @throws {UserError} when the database was set up before background work existed */
async function requireQueue(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query("select from pg_namespace where nspname = 'graphile_worker'");
  if (rowCount === 1) return;
  throw new UserError(
    "This database has no queue for background work. Run `DATABASE_URL=<an administrator's URL> npx erp db setup` first.",
  );
}

interface RoleRow {
  role: string;
  super: boolean;
  owner: boolean;
  able: boolean;
}

async function findExcessRights(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<RoleRow>(
    `select current_user as role, rolsuper as super, pg_has_role(current_user, 'service_owner', 'set') as owner,
       (select bool_and(coalesce(pg_has_role(current_user, to_regrole(name), 'set'), false)) from unnest($1::text[]) name) as able
     from pg_roles where rolname = current_user`,
    [narrowRoles],
  );
  const { role, super: isSuperuser, owner, able } = rows[0]!;
  if (!able) {
    throw new UserError(
      `The role ${role} may not become service_api and the other narrow roles. Use the URL that \`npx erp db setup\` printed.`,
    );
  }
  if (!isSuperuser && !owner) return [];
  return [
    `The role ${role} may do far more in the database than serving needs. Use the URL that \`npx erp db setup\` prints.`,
  ];
}
