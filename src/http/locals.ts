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
    /** Facts about a request that pages can read too. */
    interface Locals {
      /** The id of the request. */
      requestId: string;
      /** The path for the log, if a part of the real one is secret. */
      loggedPath?: string;
      /** The code of the error with which the request was refused. */
      refusal?: ErrorCode | undefined;
    }
  }
}

/** A stage of a request, in this order. The rest of its time counts as the response's. */
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

/** The requested operation, or the reasons why it is refused. */
export interface ParsedOperation {
  /** The valid document, the same object for the same text; null if it is invalid. */
  document: DocumentNode | null;
  refusals: readonly GraphQLError[];
  /** In points; part of the response's extensions. */
  cost: { requested: number; maximum: number };
}

/** An allowed operation and its caller: the arguments of graphql-js for an execution. */
export interface Execution extends OperationArgs {
  contextValue: { scopes: ReadonlySet<string> };
}

/** Facts that middlewares add to a request, in the order in which they become known. */
export interface Facts {
  /** When the request arrived, and passed each stage, in milliseconds. */
  passed: [stage: Stage | "arrival", at: number][];
  /** The request's spans; null when it isn't traced. */
  trace: RequestTrace | null;
  /** The requested version. */
  served: ServedVersion;
  merchantPlan: MerchantPlan;
  caller: Caller;
  /** The log position in the request; a replica must have reached it to answer the request. */
  sentAlong: Position;
  /** Notes that the request has written something, and sends the client the position; undefined without replicas. */
  noteWrite: (() => Promise<void>) | undefined;
  /** Whether the client requested server-sent events. */
  isStream: boolean;
  /** The language of localised names. */
  locale: string;
  body: GraphqlBody;
  /** Whether the operation is known to be a stored one. */
  isStored: boolean;
  operation: ParsedOperation;
  execution: Execution;
  /** The operation's usage, by the name that statements, the log and statistics use; undefined without such a name. */
  use: RequestUse | undefined;
}

/** Facts that only some requests have. */
interface OptionalFacts {
  /** Whether the request went to the events endpoint, and so isn't a GraphQL subscription. */
  isEventsEndpoint?: boolean;
  /** The log position after the request's writes, as sent in the response. */
  position?: string;
  /** The error of the SQL statement that should have answered a read. */
  readFailure?: Error;
  /** The outcome of the operation's only mutation, if the response needs Grafast. */
  mutationOutcome?: MutationOutcome;
  /** The code of the first error during execution. */
  failure?: string;
}

/** All known facts about a request; those named by `Known` are present. */
export type Locals<Known extends keyof Facts = never> = Express.Locals &
  OptionalFacts &
  Pick<Facts, Known> &
  Partial<Facts>;
