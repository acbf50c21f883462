import type { Pool, PoolClient } from "pg";
import { runPipelined } from "./pipelined-query.ts";

const role = "service_api";
const scopes = "pipelining check";
const columns = "current_user::text, coalesce(current_setting('service.scopes', true), ''), $1::int";

/**
 * Checks that pipelined queries work with this `pg` and this Postgres: they use parts of the driver that another
 * release may change.
 *
 * @returns null, or what is wrong
 */
export async function checkPipelining(pool: Pool): Promise<string | null> {
  const client = await pool.connect();
  try {
    await tryPipelinedQueries(client);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    // Its state is unknown now, so it is not used again
    client.release(true);
  }
}

async function tryPipelinedQueries(client: PoolClient): Promise<void> {
  const settings = { role, "service.scopes": scopes };
  const statement = { text: `select ${columns}`, values: [7], name: "pipelining.check", arrayMode: true };
  const same = async (label: string, expected: unknown[], actual: Promise<{ rows: unknown[] }>) => {
    const found = JSON.stringify((await actual).rows);
    if (found !== JSON.stringify([expected])) throw new Error(`${label}: ${found}`);
  };
  for (const label of ["the first query", "a prepared query"])
    await same(label, [role, scopes, 7], runPipelined(client, settings, statement));
  const failing = runPipelined(client, settings, { text: "select 1 / $1::int", values: [0] });
  if (
    await failing.then(
      () => true,
      ({ code }) => code !== "22012",
    )
  )
    throw new Error("errors don't get through");
  await same("a query after an error", [role, scopes, 7], runPipelined(client, settings, statement));
  const { rows } = await client.query({
    text: `select session_user::text, ${columns}`,
    values: [8],
    rowMode: "array",
  });
  const [[session, user, left, value]] = rows as [unknown[]];
  if (user !== session || left !== "" || value !== 8) throw new Error("settings outlive their query");
}
