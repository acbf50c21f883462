import type { Pool } from "pg";
import type { WithPgClient } from "postgraphile/@dataplan/pg";
import { createWithPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import type { NodePostgresPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import { makePgService } from "postgraphile/adaptors/pg";
import type { Share } from "./allotment.ts";
import { pipeliningAdaptor } from "./pipeline/adaptor.ts";
import type { ReadRows, ReadText, WaitingRead } from "./pipeline/read-text.ts";
import { createRowReader, textReader } from "./pipeline/read-text.ts";
import type { OnWritten, SendTransactions } from "./pipeline/send-together.ts";
import { createTransactionSender } from "./pipeline/send-together.ts";
import type { Waits } from "../lib/fair-queue.ts";
import { openPool, openPoolLike } from "./pool.ts";
import { withRetries } from "./repeating.ts";
import type { OnUsed } from "./shared-pool.ts";
import { SharedPool } from "./shared-pool.ts";

/** Lends connections of a pool to PostGraphile, each with settings for its transactions. */
export type WithClients = WithPgClient<NodePostgresPgClient>;

/** The access of operations to the database. */
export interface DatabaseAccess {
  /** Closes its own connections. The pool stays open. */
  close(): Promise<void>;
  /** PostGraphile's adaptor. */
  pgService: GraphileConfig.PgServiceConfiguration;
  /** Reads with one statement; null without pipelined queries. */
  readText: ReadText | null;
  /** Reads rows of several texts; null without pipelined queries. */
  readRows: ReadRows | null;
  /** The queue for connections; null without pipelined queries. */
  queue: { readonly waits: Waits } | null;
  /** Sends mutations with the reads of their payloads; null without pipelined queries. */
  sendTogether: SendTransactions | null;
  /** Returns the same adaptor for other connections. */
  createWithClients: (pool: Pool) => WithClients;
}

export interface DatabaseAccessOptions {
  /** Connections for reading the catalog. */
  catalogOf: Pool;
  fastReads: boolean;
  onUsed?: OnUsed;
  /** Called with Postgres' position after each mutation. Without it, the position isn't read. */
  onWritten?: OnWritten | undefined;
  /** Its share of connections that others need too. */
  share?: Share | null;
}

/** The statement timeout for reading the catalog. */
const catalogTimeout = "300s";

/** Options of the connections that read the catalog: on a slow machine this takes longer than any request. */
const catalogOptions = {
  /** The number of versions that read their part of the catalog at a time. */
  max: 2,
  query_timeout: 0,
  // Versions wait for each other, and a slow machine takes long
  connectionTimeoutMillis: 300_000,
  idleTimeoutMillis: 1_000,
  application_name: "catalog",
};

/**
 * Opens the access of operations to the database, with one message for each statement. If that is switched off, it uses the
 * library's adaptor.
 *
 * @param pool the connections of operations
 */
export function openDatabaseAccess(
  pool: Pool,
  { catalogOf, fastReads, onUsed, onWritten, share }: DatabaseAccessOptions,
): DatabaseAccess {
  const catalogPool = openPoolLike(catalogOf, catalogOptions);
  const close = () => catalogPool.end();
  const service = makePgService({
    pool,
    superuserPool: catalogPool,
    pubsub: false,
    pgSettingsForIntrospection: { statement_timeout: catalogTimeout },
  });
  if (!fastReads) {
    const withClientsOf = (other: Pool) => withRetries(createWithPgClient({ pool: other }));
    const adaptor = { makePgService, createWithPgClient: createRetryingWithPgClient };
    return {
      pgService: { ...service, adaptor },
      readText: null,
      readRows: null,
      sendTogether: null,
      queue: null,
      createWithClients: withClientsOf,
      close,
    };
  }
  const shared = new SharedPool<WaitingRead>(pool, onUsed, share);
  const readRows = createRowReader(shared);
  return {
    pgService: { ...service, adaptor: pipeliningAdaptor(shared) },
    readText: textReader(readRows),
    queue: shared.queue,
    readRows,
    sendTogether: createTransactionSender(shared, onWritten),
    createWithClients: (other) =>
      pipeliningAdaptor(new SharedPool(other)).createWithPgClient({ pool: other }),
    close,
  };
}

/**
 * Runs work with the library's access to a database, on connections of its own. The library would open them itself, but
 * would print to the terminal when Postgres ends one, as it does when the database is recreated.
 */
export async function withPgService<T>(
  connectionString: string,
  work: (service: GraphileConfig.PgServiceConfiguration) => Promise<T>,
): Promise<T> {
  const pool = openPool({ connectionString, connectionTimeoutMillis: 0 });
  try {
    return await work(makePgService({ pool, pubsub: false }));
  } finally {
    await pool.end();
  }
}

/** The library's function, with repetition after collisions except for the catalog. */
const createRetryingWithPgClient: typeof createWithPgClient = (options, variant) => {
  const withPgClient = createWithPgClient(options, variant);
  return variant === "SUPERUSER" ? withPgClient : withRetries(withPgClient);
};
