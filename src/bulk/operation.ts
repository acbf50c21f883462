import type { Pool } from "pg";
import type { BulkTrace } from "../tracing/tracing.ts";
import type { UsedByOthers } from "./pace.ts";

/** A bulk operation that this process works on. */
export interface TakenOperation {
  id: string;
  claim: string;
  kind: "import" | "export";
  resource: string;
  next_chunk: number;
  credential_id: string;
  /** Of the request that has asked for it; null when that wasn't traced. */
  traceparent: string | null;
}

/** Why an operation has to stop. */
export interface Failure {
  code: string;
  message: string;
}

/** What work on any operation needs. */
export interface WorkTools {
  /** Connections of service_worker: two for each operation. */
  pool: Pool;
  /** Milliseconds for which it is ours without anything new. */
  leaseMs: number;
  usedByOthers: UsedByOthers;
  stopping: AbortSignal;
  /** Null when it isn't traced. */
  trace: BulkTrace | null;
}
