import type { Pool } from "pg";
import pg from "pg";
import type { Logger } from "pino";
import type { WithPgClient } from "postgraphile/@dataplan/pg";
import { createWithPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import type { NodePostgresPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import { makePgService } from "postgraphile/adaptors/pg";
import { pipeliningAdaptor } from "./pipeline/adaptor.ts";
import { checkPipelining } from "./pipeline/check-pipelining.ts";
import type { ReadText } from "./pipeline/read-text.ts";
import { textReader } from "./pipeline/read-text.ts";
import type { OnUsed } from "./shared-pool.ts";
import { SharedPool } from "./shared-pool.ts";

/** Lends connections of a pool to PostGraphile, each with the settings of a transaction. */
export type WithClients = WithPgClient<NodePostgresPgClient>;

/** How operations reach the database. */
export interface DatabaseAccess {
  /** Closes the connections of its own. The pool stays open. */
  close(): Promise<void>;
  /** That of PostGraphile. */
  pgService: GraphileConfig.PgServiceConfiguration;
  /** That of reads which are one statement; null when there is only the other. */
  readText: ReadText | null;
  /** That of PostGraphile, on other connections. */
  withClientsOf: (pool: Pool) => WithClients;
}

export interface DatabaseAccessOptions {
  /** Connections like those that the catalog is read on. */
  catalogOf: Pool;
  fastReads: boolean;
  logger: Logger;
  onUsed?: OnUsed;
}

/**
 * How operations reach the database: in one message for each statement, or, when that is not wanted or doesn't work
 * with this driver, as the library does it.
 *
 * @param pool the connections of operations
 */
export async function openDatabaseAccess(
  pool: Pool,
  { catalogOf, fastReads, logger, onUsed }: DatabaseAccessOptions,
): Promise<DatabaseAccess> {
  const catalogPool = createCatalogPool(catalogOf);
  const close = () => catalogPool.end();
  const service = makePgService({
    pool,
    superuserPool: catalogPool,
    pubsub: false,
    pgSettingsForIntrospection: { statement_timeout: catalogTimeout },
  });
  const trouble = fastReads ? await checkPipelining(pool) : null;
  if (trouble !== null)
    logger.warn(
      { trouble },
      "statements are sent one by one, which is slower: the driver is not as expected",
    );
  if (!fastReads || trouble !== null) {
    const withClientsOf = (other: Pool) => createWithPgClient({ pool: other });
    return { pgService: service, readText: null, withClientsOf, close };
  }
  const shared = new SharedPool(pool, onUsed);
  return {
    pgService: { ...service, adaptor: pipeliningAdaptor(shared) },
    readText: textReader(shared),
    withClientsOf: (other) => pipeliningAdaptor(new SharedPool(other)).createWithPgClient({ pool: other }),
    close,
  };
}

/** How long Postgres may take to read the catalog. */
const catalogTimeout = "300s";
/** Versions whose part of the catalog is read at a time. */
const catalogConnections = 2;

/**
 * Connections for reading the catalog, as starts and reloads do. On a slow machine that may take longer than any
 * request is given, so these don't count as lost after so many seconds without an answer.
 */
function createCatalogPool({ options }: Pool): pg.Pool {
  const pool = new pg.Pool({
    ...options,
    // Hidden there from copies
    ...(options.password === undefined ? {} : { password: options.password }),
    max: catalogConnections,
    min: 0,
    query_timeout: 0,
    idleTimeoutMillis: 1_000,
    application_name: "catalog",
  });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}
