import type { Pool } from "pg";
import { openDatabaseAccess } from "../postgres/pg-service.ts";
import type { DatabaseAccess } from "../postgres/pg-service.ts";
import { Replicas } from "../replicas/replicas.ts";
import type { ReadWithOwnWrites, ReplicasOptions } from "../replicas/replicas.ts";
import type { OnUsed } from "../postgres/shared-pool.ts";
import { readsOpenTransactions } from "../reads/followed.ts";
import type { Opening } from "./shared.ts";

interface AccessOptions {
  /** Connections for operations. */
  apiPool: Pool;
  /** Standbys that answer reads. */
  replicas?: ReplicasOptions | null;
  onUsed: OnUsed;
}

/** The access of operations to the primary and its replicas. */
export interface Access extends Omit<DatabaseAccess, "readText"> {
  /** For reads by one statement; null without pipelined queries. */
  readText: ReadWithOwnWrites | null;
  replicas: Replicas | null;
}

/** Opens the access of operations to the database. */
export function openAccess(
  { settings, pool, logger, closing, shared }: Opening,
  { apiPool, replicas: standbys, onUsed }: AccessOptions,
): Access {
  const { fastReads } = settings;
  const replicas = standbys
    ? new Replicas(standbys, { primary: pool, logger, onUsed, needsPrimary: readsOpenTransactions })
    : null;
  closing.add(() => replicas?.close());
  const access = openDatabaseAccess(apiPool, {
    catalogOf: pool,
    fastReads,
    onUsed,
    onWritten: replicas?.noteWritten,
    share: shared.share,
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
