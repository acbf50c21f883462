import { randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { formatAddress, withClient } from "../postgres/client.ts";
import type { MigrateOptions } from "../migrations/migrate-options.ts";
import { migrateDatabase } from "../migrations/migrations.ts";
import {
  urlOfDatabase,
  readCommittedKeys,
  copyTemplate,
  createServedDatabase,
} from "../migrations/templates.ts";
import { templateName } from "../migrations/templates.ts";
import { revokeDefaultDatabases } from "../migrations/neighbours.ts";
import { dropDatabase, isTaken } from "../migrations/own-databases.ts";
import { requireVersion } from "../migrations/requirements.ts";
import { ensureRoles } from "../postgres/roles.ts";
import { installQueueSchema } from "../migrations/worker-schema.ts";
import { UserError } from "../errors/user-error.ts";

/** Returns the name of a merchant's database. */
export const merchantDatabaseName = (merchant: string): string => `merchant_${merchant}`;
const loginRole = (merchant: string): string => `merchant_${merchant}_login`;

/** Returns the server of a database, to distinguish clusters. */
export const serverAddress = (url: string): string => formatAddress(new URL("/", url).href);

/**
 * Creates a merchant's database: a copy of a template that has all migrations, with its own roles.
 *
 * @param adminUrl a database of the cluster, as superuser or a role that may create roles and databases
 * @param template the database to copy; by default one with the committed migrations, which is created if it is missing
 * @returns the URL with which the service connects
 * @throws {UserError} when the database already exists
 */
export async function addMerchantDatabase(
  adminUrl: string,
  merchant: string,
  { template }: { template?: string } = {},
): Promise<string> {
  const name = merchantDatabaseName(merchant);
  const url = urlOfDatabase(adminUrl, name);
  return withClient(adminUrl, async (admin) => {
    await requireVersion(admin);
    await ensureRoles(admin);
    await revokeDefaultDatabases(url);
    const alreadyExists = new UserError(`There is already a database ${name} at ${formatAddress(adminUrl)}.`);
    const { rowCount } = await admin.query("select from pg_database where datname = $1", [name]);
    if (rowCount === 1) throw alreadyExists;
    // Uses another name first, because another command may create the database at the same time
    let own = `new_merchant_${randomUUID()}`;
    try {
      if (template === undefined) await copyMigrated(admin, adminUrl, own);
      else await admin.query(createFrom(own, template));
      const [from, to] = [own, name].map((each) => pg.escapeIdentifier(each));
      await admin.query(`alter database ${from} rename to ${to}`);
      own = name;
      return await assignToMerchant(url, merchant, { renewPassword: true });
    } catch (error) {
      await dropDatabase(admin, own);
      throw isTaken(error) ? alreadyExists : error;
    }
  });
}

/** Migrates a merchant's database, as administrator. It can be run again. */
export async function migrateMerchantDatabase(
  adminUrl: string,
  merchant: string,
  options: MigrateOptions,
): Promise<void> {
  await migrateDatabase(adminUrl, options);
  await installQueueSchema(adminUrl);
  // Migrations may have granted rights to other roles
  await assignToMerchant(adminUrl, merchant);
}

/** Drops a merchant's database and its roles. */
export async function dropMerchantDatabase(
  adminUrl: string,
  merchant: string,
  database: string,
): Promise<void> {
  await withClient(adminUrl, async (admin) => {
    await dropDatabase(admin, database);
    for (const role of listRoles(merchant))
      await admin.query(`drop role if exists ${pg.escapeIdentifier(role)}`);
  });
}

/** Finds other databases in which a merchant's roles have rights, for example after a move. Such roles can't be dropped. */
export const findOtherDatabases = (adminUrl: string, merchant: string, database: string): Promise<string[]> =>
  queryDatabases(
    adminUrl,
    `select distinct d.datname as name
     from pg_shdepend s
     join pg_database d on d.oid = case when s.classid = 'pg_database'::regclass then s.objid else s.dbid end
     where s.refclassid = 'pg_authid'::regclass and d.datname <> $2
       and s.refobjid in (select oid from pg_roles where rolname = any ($1))
     order by d.datname`,
    [listRoles(merchant), database],
  );

/** Finds other databases of the cluster that a merchant's role may open. By default Postgres lets every role connect. */
export const findOpenDatabases = (adminUrl: string, merchant: string): Promise<string[]> =>
  queryDatabases(
    adminUrl,
    `select datname as name from pg_database
     where datallowconn and has_database_privilege($1, oid, 'connect') and datname <> $2 order by datname`,
    [loginRole(merchant), merchantDatabaseName(merchant)],
  );

const queryDatabases = (adminUrl: string, query: string, values: unknown[]): Promise<string[]> =>
  withClient(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ name: string }>(query, values);
    return rows.map(({ name }) => name);
  });

const apiLoginRole = (merchant: string): string => `merchant_${merchant}_api_login`;

/** Returns all roles of a merchant. */
export const listRoles = (merchant: string): string[] => [loginRole(merchant), apiLoginRole(merchant)];

/** Creates a database with all committed migrations and the job queue. */
async function copyMigrated(admin: pg.Client, adminUrl: string, name: string): Promise<void> {
  const template = templateName("merchant", (await readCommittedKeys()).at(-1) ?? "none");
  await copyTemplate(admin, adminUrl, name, {
    template,
    async make(made) {
      await createServedDatabase(admin, adminUrl, made);
      // Migrations leave dead rows, a fifth of the size, which would be in each copy
      await withClient(urlOfDatabase(adminUrl, made), (client) => client.query("vacuum full"));
    },
  });
}

const createFrom = (name: string, template: string): string =>
  `create database ${pg.escapeIdentifier(name)} owner service_owner template ${pg.escapeIdentifier(template)}`;

/** Parameters of a URL that identify the user. They override the user name before the host. */
const administratorParameters = ["user", "password", "sslcert", "sslkey"];

/**
 * Creates the roles of a merchant, gives them access to its database, and revokes everyone else's.
 *
 * @param url the URL of the database, as administrator
 * @returns the URL with which the service connects, if there is a new password
 */
export async function assignToMerchant(
  url: string,
  merchant: string,
  { renewPassword } = { renewPassword: false },
): Promise<string> {
  const password = renewPassword ? randomBytes(24).toString("base64url") : "";
  await withClient(url, async (client) => {
    await client.query("begin");
    // Roles belong to the cluster: concurrent set-ups of two databases would collide
    await client.query("select pg_advisory_xact_lock(hashtext('roles of the service'))");
    const roles = listRoles(merchant);
    await client.query(
      "select set_config('merchant.login', $1, true), set_config('merchant.api_login', $2, true)",
      roles,
    );
    await client.query(await readFile(new URL("../../db/merchant.sql", import.meta.url), "utf8"));
    // The password is random, so slow hashing gains nothing, and it would take most of the time of a new connection
    await client.query("set local scram_iterations = 1");
    if (renewPassword)
      for (const role of roles)
        await client.query(
          `alter role ${pg.escapeIdentifier(role)} password ${client.escapeLiteral(password)}`,
        );
    await client.query("commit");
  });
  const own = Object.assign(new URL(url), { username: loginRole(merchant), password });
  for (const name of administratorParameters) own.searchParams.delete(name);
  return own.href;
}
