import { databaseIn, withClient } from "../../src/postgres/client.ts";

/** What the statements of a database took, as pg_stat_statements counts it. */
export interface StatementCosts {
  /** Pages of 8 kB that were looked at, wherever they were. */
  pages: number;
  /** Bytes of write-ahead log. */
  walBytes: number;
}

const ofDatabase = "(select oid from pg_database where datname = $1)";

/** Those of background work are left out: how often it looks follows the clock. */
const ofRequests = "'operation=''|mutation[.]run'";

/** @param adminUrl of the database; the cluster's database `postgres` has the extension */
function inStatistics<T>(adminUrl: string, text: string): Promise<T[]> {
  const url = Object.assign(new URL(adminUrl), { pathname: "/postgres" }).href;
  const name = databaseIn(adminUrl);
  return withClient(url, async (client) => (await client.query(text, [name])).rows as T[]);
}

/** What disturbs, such as a vacuum after which catalogs are read anew, only adds: the least of so many counts it is. */
const counts = 3;

/** What each of some requests costs a database, which answers no others meanwhile. */
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
