import type { Pool } from "pg";
import type { Logger } from "pino";
import { openDatabaseAccess } from "../postgres/pg-service.ts";
import type { DatabaseAccess } from "../postgres/pg-service.ts";
import { Replicas } from "../replicas/replicas.ts";
import type { ReadWithOwnWrites, ReplicasOptions } from "../replicas/replicas.ts";
import type { OnUsed } from "../postgres/shared-pool.ts";
import { readsOpenTransactions } from "../reads/followed.ts";
import type { SharedParts } from "./shared-parts.ts";
import type { Closing } from "../lib/closing.ts";

export interface AccessOptions {
  /** Connections of service_login. */
  pool: Pool;
  /** Connections for operations. */
  apiPool: Pool;
  /** Standbys that answer reads. */
  replicas: ReplicasOptions | null;
  fastReads: boolean;
  logger: Logger;
  onUsed: OnUsed;
  closing: Closing;
  /** Of an app beside those of other merchants. */
  shared: SharedParts | null;
}

/** The access of operations to the primary and its replicas. */
export interface Access extends Omit<DatabaseAccess, "readText"> {
  /** For reads by one statement; null without pipelined queries. */
  readText: ReadWithOwnWrites | null;
  replicas: Replicas | null;
}

/** Opens the access of operations to the database. */
export function openAccess(options: AccessOptions): Access {
  const { pool, apiPool, fastReads, logger, onUsed, closing } = options;
  const replicas =
    options.replicas &&
    new Replicas(options.replicas, {
      primary: pool,
      logger,
      onUsed,
      needsPrimary: readsOpenTransactions,
    });
  closing.add(() => replicas?.close());
  const access = openDatabaseAccess(apiPool, {
    catalogOf: pool,
    fastReads,
    onUsed,
    onWritten: replicas?.noteWritten,
    share: options.shared?.share ?? null,
  });
  closing.add(() => access.close());
  const { readText } = access;
  const fromPrimary =
    readText && ((_sentAlong: bigint, ...read: Parameters<typeof readText>) => readText(...read));
  return { ...access, replicas, readText: (readText && replicas?.reader(readText)) ?? fromPrimary };
}

/** Waits for a change of the API, whose reads may need what a replica lacks then. */
export async function changing<Result>({ replicas }: Pick<Access, "replicas">, change: Promise<Result>) {
  try {
    return await change;
  } finally {
    await replicas?.requirePresent();
  }
}
