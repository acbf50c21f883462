import type { Pool } from "pg";
import type { Logger } from "pino";
import { openDatabaseAccess } from "../database/pg-service.ts";
import type { DatabaseAccess } from "../database/pg-service.ts";
import { Replicas } from "../database/replicas/replicas.ts";
import type { ReadWithOwnWrites, ReplicasOptions } from "../database/replicas/replicas.ts";
import type { OnUsed } from "../database/shared-pool.ts";
import type { Closing } from "../lib/closing.ts";
import type { AppSettings } from "./app-settings.ts";
import type { Shared } from "./shared.ts";

interface AccessOptions {
  settings: Pick<AppSettings, "fastReads">;
  /** Connections of service_login. */
  pool: Pool;
  /** Connections for operations. */
  apiPool: Pool;
  /** Standbys that answer reads. */
  replicas?: ReplicasOptions | null;
  logger: Logger;
  onUsed: OnUsed;
  closing: Closing;
  shared: Pick<Shared, "share" | "firstRights">;
}

/** The access of operations to the primary and its replicas. */
export interface Access extends Omit<DatabaseAccess, "readText"> {
  /** For reads by one statement; null without pipelined queries. */
  readText: ReadWithOwnWrites | null;
  replicas: Replicas | null;
}

/** Opens the access of operations to the database. */
export async function openAccess(options: AccessOptions): Promise<Access> {
  const { pool, apiPool, logger, onUsed, closing, shared } = options;
  const { fastReads } = options.settings;
  const replicas = options.replicas
    ? new Replicas(options.replicas, { primary: pool, logger, onUsed })
    : null;
  closing.add(() => replicas?.close());
  const access = await openDatabaseAccess(apiPool, {
    catalogOf: pool,
    fastReads,
    logger,
    onUsed,
    onWritten: replicas?.noteWritten,
    share: shared.share,
    trouble: shared.firstRights ? null : undefined,
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
