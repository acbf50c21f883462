import type { Pool } from "pg";
import type { Logger } from "pino";
import type { WithPgClient } from "postgraphile/@dataplan/pg";
import { createWithPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import type { NodePostgresPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import { makePgService } from "postgraphile/adaptors/pg";
import { flightAdaptor } from "./flights/adaptor.ts";
import { whyNotFly } from "./flights/check.ts";
import type { ReadText } from "./flights/read-text.ts";
import { textReader } from "./flights/read-text.ts";
import type { OnUsed } from "./shared-pool.ts";
import { SharedPool } from "./shared-pool.ts";

/** Lends connections of a pool to PostGraphile, each with the settings of a transaction. */
export type WithClients = WithPgClient<NodePostgresPgClient>;

/** The ways to the database. */
export interface DatabaseWays {
  /** That of PostGraphile. */
  pgService: GraphileConfig.PgServiceConfiguration;
  /** That of reads which are one statement; null when there is only the other. */
  readText: ReadText | null;
  /** That of PostGraphile, on other connections. */
  withClientsOf: (pool: Pool) => WithClients;
}

/**
 * How operations reach the database: in one message for each statement, or, when that is not wanted or doesn't work
 * with this driver, in the library's way.
 */
export async function openWays(
  pool: Pool,
  { fastReads, logger, onUsed }: { fastReads: boolean; logger: Logger; onUsed?: OnUsed },
): Promise<DatabaseWays> {
  const service = makePgService({
    pool,
    pubsub: false,
    // Reading the catalog of a busy database may take longer than a request
    pgSettingsForIntrospection: { statement_timeout: "20s" },
  });
  const trouble = fastReads ? await whyNotFly(pool) : null;
  if (trouble !== null)
    logger.warn({ trouble }, "statements are sent in the slower way: the driver is not as expected");
  if (!fastReads || trouble !== null) {
    const withClientsOf = (other: Pool) => createWithPgClient({ pool: other });
    return { pgService: service, readText: null, withClientsOf };
  }
  const shared = new SharedPool(pool, onUsed);
  return {
    pgService: { ...service, adaptor: flightAdaptor(shared) },
    readText: textReader(shared),
    withClientsOf: (other) => flightAdaptor(new SharedPool(other)).createWithPgClient({ pool: other }),
  };
}
