import type { Pool } from "pg";
import type { GraphQLSchema } from "postgraphile/graphql";
import type { Spend } from "../auth/rate-limits/spend.ts";
import type { BulkTrace } from "../tracing/spans.ts";
import type { Reader } from "../versions/reader.ts";
import type { ExportFormat } from "./resources.ts";

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
  /** Trace context of the request that started the operation; null if it wasn't traced. */
  traceparent: string | null;
}

/** A list that is to be written to a file. */
export interface TakenExport extends TakenOperation {
  query: string;
  variables: Record<string, unknown>;
  format: ExportFormat;
  locale: string | null;
  scopes: string[] | null;
}

/** Why an operation has to stop. */
export interface Failure {
  code: string;
  message: string;
}

/** How work on an operation ended: null when all is done, `left` when others are to go on with it. */
export type Outcome = Failure | "left" | null;

/** Tools for work on operations. */
export interface BulkTools {
  /** Connections of service_worker: two for each operation. */
  pool: Pool;
  /** Read-only connections for lists, with the settings of requests. */
  readPool: Pool;
  /** Runs queries in the head. @throws when it isn't served */
  reader: () => Reader;
  /** The present schema of the head. @throws when it can't be built */
  schema: () => GraphQLSchema;
  spend: Spend;
  usedByOthers: UsedByOthers;
  maxStoredBytes: number;
  /** Rows of a page at first. */
  pageSize: number;
  /** Milliseconds for which an operation is ours without anything new. */
  leaseMs: number;
  stopping: AbortSignal;
}

/** The same for one operation. */
export interface WorkTools extends BulkTools {
  /** Null when it isn't traced. */
  trace: BulkTrace | null;
}
