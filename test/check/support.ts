import type pg from "pg";
import { check } from "../../src/check/check.ts";
import type { CheckOptions } from "../../src/check/check.ts";
import type { Finding } from "../../src/check/finding.ts";

/** What the check says of a migration that is run for it and undone again. */
export async function findingsOf(
  client: pg.Client,
  text: string,
  options: Omit<CheckOptions, "current"> = {},
): Promise<Finding[]> {
  await client.query("begin");
  try {
    await client.query(text);
    return await check(client, { ...options, current: [{ name: "5-try.sql", text }] });
  } finally {
    await client.query("rollback");
  }
}
