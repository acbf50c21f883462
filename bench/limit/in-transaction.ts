import type pg from "pg";
import type { LimitStatement } from "./pipelined.ts";

/** Type parsers that return text, so that JSON isn't parsed. */
const asText = { getTypeParser: () => (text: string) => text } as pg.CustomTypesConfig;

/** Runs a statement in the usual way: in a transaction with BEGIN, settings and COMMIT. */
export async function inTransaction(
  client: pg.PoolClient,
  settings: Record<string, string>,
  { name, text }: LimitStatement,
  values: string[],
): Promise<string> {
  const entries = Object.entries(settings);
  const calls = entries.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`);
  await client.query("begin");
  try {
    await client.query({ name: "settings", text: `select ${calls.join(", ")}`, values: entries.flat() });
    const { rows } = await client.query<[string]>({ name, text, values, rowMode: "array", types: asText });
    await client.query("commit");
    return rows[0]![0];
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
