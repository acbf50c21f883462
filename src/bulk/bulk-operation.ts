import type { Pool } from "pg";
import type { BulkTrace } from "../tracing/spans.ts";

/** Whether others than a credential have sent requests just now. */
export type UsedByOthers = (credentialId: string) => boolean;

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

/** How work on an operation ended: null when all is done, `left` when others are to go on with it. */
export type Outcome = Failure | "left" | null;

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
