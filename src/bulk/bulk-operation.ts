import type { Pool } from "pg";
import type { GraphQLSchema } from "postgraphile/graphql";
import type { Spend } from "../auth/rate-limits/spend.ts";
import type { BulkTrace } from "../tracing/spans.ts";
import type { Reader } from "../versions/reader.ts";
import type { ExportFormat } from "./formats.ts";

/** Whether clients other than this API credential have sent requests recently. */
export type UsedByOthers = (credentialId: string) => boolean;

/** A bulk operation that this process works on. */
export interface ClaimedOperation {
  id: string;
  claim: string;
  kind: "import" | "export";
  resource: string;
  next_chunk: number;
  credential_id: string;
  /** The trace of the request that started the operation; null if that request wasn't traced. */
  traceparent: string | null;
}

/** An export: a list to write to a file. */
export interface ClaimedExport extends ClaimedOperation {
  query: string;
  variables: Record<string, unknown>;
  format: ExportFormat;
  locale: string | null;
  scopes: string[] | null;
}

/** The reason why an operation fails. */
export interface Failure {
  code: string;
  message: string;
}

/** The result of work on an operation: null if it is complete, `left` if another process has to continue it. */
export type Outcome = Failure | "left" | null;

/** Tools for work on operations. */
export interface BulkTools {
  /** Connections of service_worker: two for each operation. */
  pool: Pool;
  /** Connections that only read lists, with the rights of requests. */
  readPool: Pool;
  /** Runs queries in the version `unstable`. @throws if it isn't served */
  reader: () => Reader;
  /** Returns the current schema of `unstable`. @throws if it can't be built */
  schema: () => GraphQLSchema;
  spend: Spend;
  usedByOthers: UsedByOthers;
  maxStoredBytes: number;
  /** Rows of a page; fewer are read if a page is too large. */
  pageSize: number;
  /** Milliseconds for which this process owns an operation without renewing its lease. */
  leaseMs: number;
  stopping: AbortSignal;
}

/** Tools for work on one operation. */
export interface WorkTools extends BulkTools {
  /** Null when it isn't traced. */
  trace: BulkTrace | null;
}
