import { getDatabaseName, withClient } from "../../src/postgres/client.ts";

/** Costs of a database's statements, from pg_stat_statements. */
export interface StatementCosts {
  /** Pages of 8 kB that were read, from memory or disk. */
  pages: number;
  /** Bytes of write-ahead log. */
  walBytes: number;
}

const ofDatabase = "(select oid from pg_database where datname = $1)";

/** A pattern for statements of requests. Background work is left out: it polls by the clock. */
const ofRequests = "'operation=''|mutation[.]run'";

/** @param adminUrl of the database; the cluster's database `postgres` has the extension */
function inStatistics<T>(adminUrl: string, text: string): Promise<T[]> {
  const url = Object.assign(new URL(adminUrl), { pathname: "/postgres" }).href;
  const name = getDatabaseName(adminUrl);
  return withClient(url, async (client) => (await client.query(text, [name])).rows as T[]);
}

/** Number of measurements, of which the lowest counts. Disturbances, such as reading catalogs after a vacuum, only add. */
const counts = 3;

/** Measures the costs of each request in a database without other load. */
export async function statementCosts(
  adminUrl: string,
  send: () => Promise<{ requests: number }>,
): Promise<StatementCosts> {
  const found: StatementCosts[] = [];
  while (found.length < counts) {
    await inStatistics(adminUrl, `select pg_stat_statements_reset(0, ${ofDatabase}, 0)`);
    const { requests } = await send();
    const [sums] = await inStatistics<StatementCosts>(
      adminUrl,
      `select sum(shared_blks_hit + shared_blks_read)::float8 as pages, sum(wal_bytes)::float8 as "walBytes"
       from pg_stat_statements where dbid = ${ofDatabase} and query ~ ${ofRequests}`,
    );
    found.push({ pages: sums!.pages / requests, walBytes: sums!.walBytes / requests });
  }
  const least = (figure: keyof StatementCosts) => Math.min(...found.map((costs) => costs[figure]));
  return { pages: least("pages"), walBytes: least("walBytes") };
}
