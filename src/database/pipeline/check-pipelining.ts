import type { Pool, PoolClient } from "pg";
import { fly } from "./pipelined-query.ts";

const role = "service_api";
const scopes = "flight check";
const facts = "current_user::text, coalesce(current_setting('service.scopes', true), ''), $1::int";

/**
 * Tries whether flights do what they should with this `pg` and this Postgres: they use parts of the driver that another
 * release may change.
 *
 * @returns null, or what is wrong
 */
export async function whyNotFly(pool: Pool): Promise<string | null> {
  const client = await pool.connect();
  try {
    await tryFlights(client);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    // Whatever state it is in, nobody else is to have it
    client.release(true);
  }
}

async function tryFlights(client: PoolClient): Promise<void> {
  const settings = { role, "service.scopes": scopes };
  const statement = { text: `select ${facts}`, values: [7], name: "flight.check", arrayMode: true };
  const same = async (label: string, expected: unknown[], actual: Promise<{ rows: unknown[] }>) => {
    const found = JSON.stringify((await actual).rows);
    if (found !== JSON.stringify([expected])) throw new Error(`${label}: ${found}`);
  };
  for (const label of ["the first flight", "a prepared flight"])
    await same(label, [role, scopes, 7], fly(client, settings, statement));
  const failing = fly(client, settings, { text: "select 1 / $1::int", values: [0] });
  if (
    await failing.then(
      () => true,
      ({ code }) => code !== "22012",
    )
  )
    throw new Error("errors don't get through");
  await same("a flight after an error", [role, scopes, 7], fly(client, settings, statement));
  const { rows } = await client.query({
    text: `select session_user::text, ${facts}`,
    values: [8],
    rowMode: "array",
  });
  const [[session, user, left, value]] = rows as [unknown[]];
  if (user !== session || left !== "" || value !== 8) throw new Error("settings outlive their flight");
}
