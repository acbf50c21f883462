import { readFile, writeFile } from "node:fs/promises";
import type { ClientBase } from "pg";
import { withClient } from "../postgres/client.ts";
import { withCommitted } from "./templates.ts";

const query = new URL("../../db/dump.sql", import.meta.url);
const file = new URL("../../db/schema.sql", import.meta.url);
const heading = `-- The result of all committed migrations, for people to read and review. npx erp db commit writes it by
-- db/dump.sql; nobody runs or edits it. The source is in db/fixtures and db/committed.
`;

/** The schemas of a database as text, equal for databases with equal schemas. */
export async function printSchemas(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ definition: string }>(await readFile(query, "utf8"));
  return [heading, ...rows.map(({ definition }) => `${definition}\n`)].join("\n");
}

/**
 * Returns the expected text of db/schema.sql, from a new database with the committed migrations only.
 *
 * @param adminUrl any database of the server to use, whose roles have been set up
 */
export const printCommittedSchema = (adminUrl: string): Promise<string> =>
  withCommitted(adminUrl, (url) => withClient(url, printSchemas));

/** Writes db/schema.sql. */
export const writeSchema = (text: string): Promise<void> => writeFile(file, text);
