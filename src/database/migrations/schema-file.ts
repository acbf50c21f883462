import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import pg from "pg";
import type { ClientBase } from "pg";
import { withClient } from "../client.ts";
import { migrateDatabase } from "./migrations.ts";

const query = new URL("../../../db/dump.sql", import.meta.url);
const file = new URL("../../../db/schema.sql", import.meta.url);
const heading = `-- What all committed migrations make together, for people to read and review: written by npm run db:commit,
-- never run and never edited. The source is in db/fixtures and db/committed; db/dump.sql makes this of it.
`;

/** The schemas of a database as text, equal for databases with equal schemas. */
export async function schemaOf(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ definition: string }>(await readFile(query, "utf8"));
  return [heading, ...rows.map(({ definition }) => `${definition}\n`)].join("\n");
}

/**
 * Writes db/schema.sql, from a new database with the committed migrations only.
 *
 * @param adminUrl a database of the server to make it on, whose roles have been set up
 */
export async function writeSchema(adminUrl: string): Promise<void> {
  const name = pg.escapeIdentifier(`schema_${randomUUID()}`);
  const url = Object.assign(new URL(adminUrl), { pathname: `/${name.slice(1, -1)}` }).href;
  await withClient(adminUrl, async (admin) => {
    await admin.query(`create database ${name} owner service_owner template template0`);
    try {
      await migrateDatabase(url);
      await writeFile(file, await withClient(url, schemaOf));
    } finally {
      await admin.query(`drop database ${name} with (force)`);
    }
  });
}
