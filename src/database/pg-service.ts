import type { Pool } from "pg";
import pg from "pg";
import type { Logger } from "pino";
import { makePgService } from "postgraphile/adaptors/pg";
import { flightAdaptor } from "./flights/adaptor.ts";
import { whyNotFly } from "./flights/check.ts";
import type { ReadText } from "./flights/read-text.ts";
import { textReader } from "./flights/read-text.ts";

/** The ways to the database. */
export interface DatabaseWays {
  /** Closes the connections of its own. The pool stays open. */
  close(): Promise<void>;
  /** That of PostGraphile. */
  pgService: GraphileConfig.PgServiceConfiguration;
  /** That of reads which are one statement; null when there is only the other. */
  readText: ReadText | null;
}

/**
 * How operations reach the database: in one message for each statement, or, when that is not wanted or doesn't work
 * with this driver, in the library's way.
 */
export async function openWays(
  pool: Pool,
  { fastReads, logger }: { fastReads: boolean; logger: Logger },
): Promise<DatabaseWays> {
  const catalogPool = createCatalogPool(pool);
  const close = () => catalogPool.end();
  const service = makePgService({
    pool,
    superuserPool: catalogPool,
    pubsub: false,
    pgSettingsForIntrospection: { statement_timeout: catalogTimeout },
  });
  const trouble = fastReads ? await whyNotFly(pool) : null;
  if (trouble !== null)
    logger.warn({ trouble }, "statements are sent in the slower way: the driver is not as expected");
  if (!fastReads || trouble !== null) return { pgService: service, readText: null, close };
  return { pgService: { ...service, adaptor: flightAdaptor(pool) }, readText: textReader(pool), close };
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
