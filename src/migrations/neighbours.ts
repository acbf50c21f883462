import { readFile } from "node:fs/promises";
import type { ClientBase } from "pg";
import { getDatabaseName, withClient } from "../postgres/client.ts";
import { urlOfDatabase } from "./templates.ts";

/** Databases that every cluster has, and that every role may open unless told otherwise. */
const defaultDatabases = ["postgres", "template1"];

/**
 * Closes the databases that every cluster has to the service's roles, as far as the role of the URL may. What stays open
 * `npx erp doctor` reports.
 */
export async function revokeDefaultDatabases(adminUrl: string): Promise<void> {
  // The service's own database has a fence of its own
  if (getDatabaseName(adminUrl) === "postgres") return;
  const sql = await readFile(new URL("../../db/fence-neighbours.sql", import.meta.url), "utf8");
  await withClient(urlOfDatabase(adminUrl, "postgres"), (client) => client.query(sql)).catch(() => {});
}

/** A database in which a role of the service can leave something behind. */
export interface OpenDefaultDatabase {
  name: string;
  role: string;
}

/** The databases that every cluster has, as far as a role of the service can make large objects in them. */
export async function findOpenDefaultDatabases(
  client: ClientBase,
  adminUrl: string,
): Promise<OpenDefaultDatabase[]> {
  const { rows } = await client.query<OpenDefaultDatabase>(
    `select distinct on (d.datname) d.datname as name, r.rolname as role
     from pg_database d join pg_roles r on r.rolname ~ '^(service|merchant_.+)_login$'
     where d.datname = any ($1) and d.datname <> current_database() and d.datallowconn
       and has_database_privilege(r.oid, d.oid, 'connect')
     order by d.datname, r.rolname`,
    [defaultDatabases],
  );
  const found: OpenDefaultDatabase[] = [];
  for (const neighbour of rows)
    if (await mayMakeObjects(urlOfDatabase(adminUrl, neighbour.name), neighbour.role)) found.push(neighbour);
  return found;
}

const mayMakeObjects = (url: string, role: string): Promise<boolean> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ may: boolean }>(
      `select has_function_privilege($1, 'pg_catalog.lo_create(oid)', 'execute')
         or has_database_privilege($1, current_database(), 'temporary') as may`,
      [role],
    );
    return rows[0]!.may;
  });
