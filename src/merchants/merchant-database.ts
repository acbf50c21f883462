import { randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { placeOf, withClient } from "../postgres/client.ts";
import type { MigrateOptions } from "../migrations/migrate-options.ts";
import { migrateDatabase } from "../migrations/migrations.ts";
import { besides, committedKeys, copyTemplate, createServed } from "../migrations/templates.ts";
import { templateName } from "../migrations/templates.ts";
import { fenceNeighbours } from "../migrations/neighbours.ts";
import { dropDatabase, isTaken } from "../migrations/own-databases.ts";
import { requireVersion } from "../migrations/requirements.ts";
import { ensureRoles } from "../postgres/roles.ts";
import { installQueueSchema } from "../migrations/worker-schema.ts";
import { UserError } from "../errors/user-error.ts";

/** The name of a merchant's database, and of the role that the service logs in to it as. */
export const databaseOf = (merchant: string): string => `merchant_${merchant}`;
const loginOf = (merchant: string): string => `merchant_${merchant}_login`;

/** Returns the server of a database, to distinguish clusters. */
export const serverOf = (url: string): string => placeOf(new URL("/", url).href);

/**
 * Makes a merchant's database: a copy of a template that has all migrations, with roles of its own.
 *
 * @param adminUrl a database of the cluster, with a superuser or a role that may create roles and databases
 * @param template the database that it begins as; by default one with the committed migrations, which is made if it's missing
 * @returns the URL to serve it with
 * @throws {UserError} when there is such a database already
 */
export async function addMerchantDatabase(
  adminUrl: string,
  merchant: string,
  { template }: { template?: string } = {},
): Promise<string> {
  const name = databaseOf(merchant);
  const url = besides(adminUrl, name);
  return withClient(adminUrl, async (admin) => {
    await requireVersion(admin);
    await ensureRoles(admin);
    await fenceNeighbours(url);
    const there = new UserError(`There is a database ${name} at ${placeOf(adminUrl)} already.`);
    const { rowCount } = await admin.query("select from pg_database where datname = $1", [name]);
    if (rowCount === 1) throw there;
    // One of that name may be somebody else's, who makes it at the same time
    let own = `new_merchant_${randomUUID()}`;
    try {
      if (template === undefined) await copyMigrated(admin, adminUrl, own);
      else await admin.query(createFrom(own, template));
      const [from, to] = [own, name].map((each) => pg.escapeIdentifier(each));
      await admin.query(`alter database ${from} rename to ${to}`);
      own = name;
      return await takeOver(url, merchant, { renewPassword: true });
    } catch (error) {
      await dropDatabase(admin, own);
      throw isTaken(error) ? there : error;
    }
  });
}

/** Migrates a merchant's database, as administrator. Can be repeated. */
export async function migrateMerchantDatabase(
  adminUrl: string,
  merchant: string,
  options: MigrateOptions,
): Promise<void> {
  await migrateDatabase(adminUrl, options);
  await installQueueSchema(adminUrl);
  // Migrations may have granted something
  await takeOver(adminUrl, merchant);
}

/** Drops a merchant's database and its roles. */
export async function dropMerchantDatabase(
  adminUrl: string,
  merchant: string,
  database: string,
): Promise<void> {
  await withClient(adminUrl, async (admin) => {
    await dropDatabase(admin, database);
    for (const role of rolesOf(merchant))
      await admin.query(`drop role if exists ${pg.escapeIdentifier(role)}`);
  });
}

/** Other databases in which a merchant's roles have rights, as where it was moved from: roles with rights can't be dropped. */
export const otherDatabasesOf = (adminUrl: string, merchant: string, database: string): Promise<string[]> =>
  databasesBy(
    adminUrl,
    `select distinct d.datname as name
     from pg_shdepend s
     join pg_database d on d.oid = case when s.classid = 'pg_database'::regclass then s.objid else s.dbid end
     where s.refclassid = 'pg_authid'::regclass and d.datname <> $2
       and s.refobjid in (select oid from pg_roles where rolname = any ($1))
     order by d.datname`,
    [rolesOf(merchant), database],
  );

/** Other databases of the cluster that a merchant's role may open. Postgres lets every role connect unless told otherwise. */
export const openDatabases = (adminUrl: string, merchant: string): Promise<string[]> =>
  databasesBy(
    adminUrl,
    `select datname as name from pg_database
     where datallowconn and has_database_privilege($1, oid, 'connect') and datname <> $2 order by datname`,
    [loginOf(merchant), databaseOf(merchant)],
  );

const databasesBy = (adminUrl: string, query: string, values: unknown[]): Promise<string[]> =>
  withClient(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ name: string }>(query, values);
    return rows.map(({ name }) => name);
  });

const apiLoginOf = (merchant: string): string => `merchant_${merchant}_api_login`;

/** All roles of a merchant. */
export const rolesOf = (merchant: string): string[] => [loginOf(merchant), apiLoginOf(merchant)];

/** Makes a database with all committed migrations and the job queue. */
async function copyMigrated(admin: pg.Client, adminUrl: string, name: string): Promise<void> {
  const template = templateName("merchant", (await committedKeys()).at(-1) ?? "none");
  await copyTemplate(admin, adminUrl, name, {
    template,
    async make(made) {
      await createServed(admin, adminUrl, made);
      // A fifth of it is what migrations left behind, in each copy
      await withClient(besides(adminUrl, made), (client) => client.query("vacuum full"));
    },
  });
}

const createFrom = (name: string, template: string): string =>
  `create database ${pg.escapeIdentifier(name)} owner service_owner template ${pg.escapeIdentifier(template)}`;

/** Parameters of a URL that say who connects. They come before the name in front of the host. */
const ofAdministrator = ["user", "password", "sslcert", "sslkey"];

/**
 * Gives a database to the roles of a merchant, which are made, and takes it from all others.
 *
 * @param url as administrator
 * @returns the URL to serve it with, if there is a new password
 */
export async function takeOver(
  url: string,
  merchant: string,
  { renewPassword } = { renewPassword: false },
): Promise<string> {
  const password = renewPassword ? randomBytes(24).toString("base64url") : "";
  await withClient(url, async (client) => {
    await client.query("begin");
    // Roles belong to the cluster: set-ups of two databases at the same time would collide
    await client.query("select pg_advisory_xact_lock(hashtext('roles of the service'))");
    const roles = rolesOf(merchant);
    await client.query(
      "select set_config('merchant.login', $1, true), set_config('merchant.api_login', $2, true)",
      roles,
    );
    await client.query(await readFile(new URL("../../db/merchant.sql", import.meta.url), "utf8"));
    // It is random, so nothing is gained by slow hashing, which takes longer than all else of a new connection
    await client.query("set local scram_iterations = 1");
    if (renewPassword)
      for (const role of roles)
        await client.query(
          `alter role ${pg.escapeIdentifier(role)} password ${client.escapeLiteral(password)}`,
        );
    await client.query("commit");
  });
  const own = Object.assign(new URL(url), { username: loginOf(merchant), password });
  for (const name of ofAdministrator) own.searchParams.delete(name);
  return own.href;
}
