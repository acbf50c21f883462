import type { DocumentNode, GraphQLError } from "postgraphile/graphql";
import type { Caller } from "../auth/caller.ts";
import type { MerchantPlan } from "../auth/merchant-plan.ts";
import type { RequestUse } from "../auth/request-use.ts";
import type { Position } from "../postgres/wal-position.ts";
import type { ErrorCode } from "../errors/api-error.ts";
import type { OperationArgs } from "../graphql/missing-scopes.ts";
import type { MutationOutcome } from "../graphql/mutation-outcome.ts";
import type { RequestTrace } from "../tracing/spans.ts";
import type { ServedVersion } from "../versions/serve-version.ts";

declare global {
  namespace Express {
    /** Facts that pages see, too. */
    interface Locals {
      /** The id of the request. */
      requestId: string;
      /** What the log contains instead of the path, if a part of that is secret. */
      loggedPath?: string;
      /** Code of the error that refused the request. */
      refusal?: ErrorCode | undefined;
    }
  }
}

/** What a request passes, in this order; the rest of its time is the answer's. */
export type Stage = "rights" | "reading" | "limits";

/** The parameters of a GraphQL request. */
export interface GraphqlBody {
  /** The document; empty until it is found by its hash. */
  query: string;
  operationName: string | null | undefined;
  variables: Record<string, unknown> | null | undefined;
  /** The SHA-256 by which the client names the document. */
  sha256?: string | undefined;
}

/** The requested operation, or why it is refused. */
export interface ParsedOperation {
  /** The valid document, the same object for the same text; null when the text is invalid. */
  document: DocumentNode | null;
  refusals: readonly GraphQLError[];
  /** In points; shown in the answer's extensions. */
  cost: { requested: number; maximum: number };
}

/** An allowed operation and its caller, as graphql-js names the arguments of an execution. */
export interface Execution extends OperationArgs {
  contextValue: { scopes: ReadonlySet<string> };
}

/** Facts that middlewares find out about a request, in the order in which they become known. */
export interface Facts {
  /** When the request arrived, and passed each stage, in milliseconds. */
  passed: [stage: Stage | "arrival", at: number][];
  /** Its spans; null when it isn't traced. */
  trace: RequestTrace | null;
  /** The requested version. */
  served: ServedVersion;
  merchantPlan: MerchantPlan;
  caller: Caller;
  /** The position that the client sends along; a replica has to show what was committed before it. */
  sentAlong: Position;
  /** Notes that the request has written something, and tells the position; undefined where nobody needs to know. */
  noteWrite: (() => Promise<void>) | undefined;
  /** Whether the client wants its answers as server-sent events. */
  isStream: boolean;
  /** Language of localised names. */
  locale: string;
  body: GraphqlBody;
  /** Whether the operation is known to be a stored one. */
  isStored: boolean;
  operation: ParsedOperation;
  execution: Execution;
  /** The operation, as statements, the log and statistics name it; undefined when it has no name of its own. */
  use: RequestUse | undefined;
}

/** What some requests have besides. */
interface Notes {
  /** Whether the client asked for the log of events itself, not for a subscription to it. */
  isPlainStream?: boolean;
  /** The position behind what the request has written, as the answer tells it. */
  position?: string;
  /** The error of the statement that was to answer a read. */
  readFailure?: Error;
  /** What became of the operation's only mutation. */
  mutationOutcome?: MutationOutcome;
  /** Code of the first error of its execution. */
  failure?: string;
}

/** What is known about a request, among it these facts. */
export type Locals<Known extends keyof Facts = never> = Express.Locals &
  Notes &
  Pick<Facts, Known> &
  Partial<Facts>;
