import pg from "pg";

/** Limits that hold for every statement of the service; and times are in UTC. */
const session = {
  timezone: "UTC",
  statement_timeout: "5s",
  lock_timeout: "3s",
  idle_in_transaction_session_timeout: "30s",
  jit: "off",
};

/** The connections that requests are served on. */
export function createPool(connectionString: string, { max }: { max: number }): pg.Pool {
  const options = Object.entries(session)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ");
  const pool = new pg.Pool({
    connectionString,
    max,
    connectionTimeoutMillis: 5_000,
    // A connection that the other side has silently left is noticed by these alone
    keepAlive: true,
    query_timeout: 20_000,
    options,
    application_name: "service",
  });
  // A connection that breaks while idle is replaced. Without listeners it would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}
