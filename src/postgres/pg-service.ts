import type { Pool } from "pg";
import type { WithPgClient } from "postgraphile/@dataplan/pg";
import { createWithPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import type { NodePostgresPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import { makePgService } from "postgraphile/adaptors/pg";
import type { Share } from "./connection-budget.ts";
import { pipeliningAdaptor } from "./pipeline/adaptor.ts";
import type { ReadRows, ReadText, WaitingRead } from "./pipeline/read-text.ts";
import { rowReader, textReader } from "./pipeline/read-text.ts";
import type { OnWritten, SendTogether } from "./pipeline/send-together.ts";
import { togetherSender } from "./pipeline/send-together.ts";
import type { Waits } from "../lib/turns.ts";
import { openPoolLike } from "./pool.ts";
import { repeating } from "./repeating.ts";
import type { OnUsed } from "./shared-pool.ts";
import { SharedPool } from "./shared-pool.ts";

/** Lends connections of a pool to PostGraphile, each with the settings of a transaction. */
export type WithClients = WithPgClient<NodePostgresPgClient>;

/** The access of operations to the database. */
export interface DatabaseAccess {
  /** Closes its own connections. The pool stays open. */
  close(): Promise<void>;
  /** PostGraphile's adaptor. */
  pgService: GraphileConfig.PgServiceConfiguration;
  /** For reads by one statement; null without pipelined queries. */
  readText: ReadText | null;
  /** The same for rows of several texts. */
  readRows: ReadRows | null;
  /** What waits for a connection; null without pipelined queries. */
  turns: { readonly waits: Waits } | null;
  /** For mutations with their payload; null without pipelined queries. */
  sendTogether: SendTogether | null;
  /** Makes the same adaptor for other connections. */
  withClientsOf: (pool: Pool) => WithClients;
}

export interface DatabaseAccessOptions {
  /** Connections for reading the catalog. */
  catalogOf: Pool;
  fastReads: boolean;
  onUsed?: OnUsed;
  /** Asks for Postgres' position behind each mutation, if given. */
  onWritten?: OnWritten | undefined;
  /** Its share of connections that others need, too. */
  share?: Share | null;
}

/** How long Postgres may take to read the catalog. */
const catalogTimeout = "300s";

/** Options of the connections for that: on a slow machine it takes longer than any request. */
const catalogOptions = {
  /** Versions whose part of the catalog is read at a time. */
  max: 2,
  query_timeout: 0,
  // Versions wait for each other, and a slow machine needs time
  connectionTimeoutMillis: 300_000,
  idleTimeoutMillis: 1_000,
  application_name: "catalog",
};

/**
 * Makes the access of operations to the database: one message for each statement or, when that is switched off, the
 * library's way.
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
    const withClientsOf = (other: Pool) => repeating(createWithPgClient({ pool: other }));
    const adaptor = { makePgService, createWithPgClient: repeatingWithPgClient };
    return {
      pgService: { ...service, adaptor },
      readText: null,
      readRows: null,
      sendTogether: null,
      turns: null,
      withClientsOf,
      close,
    };
  }
  const shared = new SharedPool<WaitingRead>(pool, onUsed, share);
  const readRows = rowReader(shared);
  return {
    pgService: { ...service, adaptor: pipeliningAdaptor(shared) },
    readText: textReader(readRows),
    turns: shared.turns,
    readRows,
    sendTogether: togetherSender(shared, onWritten),
    withClientsOf: (other) => pipeliningAdaptor(new SharedPool(other)).createWithPgClient({ pool: other }),
    close,
  };
}

/** The library's, but for the catalog. */
const repeatingWithPgClient: typeof createWithPgClient = (options, variant) => {
  const withPgClient = createWithPgClient(options, variant);
  return variant === "SUPERUSER" ? withPgClient : repeating(withPgClient);
};
