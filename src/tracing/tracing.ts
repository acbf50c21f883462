import type { Ran } from "../postgres/pipeline/transaction-settings.ts";
import type { NamedOperation } from "../graphql/signature.ts";

/** Where traces go, and how much of them: OpenTelemetry's own settings. The rest of those its libraries read themselves. */
export interface TracingSettings {
  /** Without it, nothing is traced and no library is loaded. */
  endpoint: string | undefined;
  serviceName: string;
  isDisabled: boolean;
  sampler: (typeof samplers)[number];
  samplerArgument: number;
  /** Milliseconds between two messages to the collector. */
  delayMs: number;
  /** Spans that wait at most, and of one message. Others are lost. */
  maxQueue: number;
  maxBatch: number;
}

/** Which traces are kept that nobody has decided about, and whether to keep to the decision of the client. */
export const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** Headers, by which a client may name its trace: `traceparent` and `tracestate`. */
export type TraceHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** How a request ended. */
export interface RequestEnd {
  status: number;
  requestId: string;
  credentialId: string | undefined;
  points: number | undefined;
  code: string | undefined;
}

/** The spans of a request: its own, its operation's, and one of each statement. */
export interface RequestTrace {
  readonly traceId: string;
  /** Its name for whatever comes of it, as W3C Trace Context has it: traceparent and, behind a space, tracestate. */
  readonly traceparent: string;
  operation(operation: NamedOperation, type: string): void;
  statement(ran: Ran): void;
  end(how: RequestEnd): void;
}

/** What is sent to a receiver. */
export interface SentDelivery {
  url: string;
  topic: string;
  subscriptionId: string;
  deliveryId: string;
  /** Attempts that failed before. */
  failures: number;
}

/** The span of an attempt to deliver a webhook, and those of the statements that read its payload. */
export interface DeliveryTrace {
  /** What its receiver is told: `traceparent`, and `tracestate` if there is one. */
  readonly headers: Record<string, string>;
  statement(ran: Ran): void;
  end(how: { status: number | null; error: string | null }): void;
}

/** A bulk operation that is worked on. */
export interface TracedBulk {
  id: string;
  kind: string;
  resource: string;
  credentialId: string;
}

/** The spans of work on a bulk operation: its own, one of each chunk, and one of each statement. */
export interface BulkTrace {
  /** As of a request; of the chunk that has begun. */
  readonly traceparent: string;
  chunk(number: number): void;
  statement(ran: Ran): void;
  endChunk(rows: number): void;
  /** @param code of what has ended it too early, or null */
  end(code: string | null): void;
}

/** Tells a collector what requests did. What isn't sampled has no trace. */
export interface Tracing {
  /** The same for one of several merchants, whose name its spans have. It needs no closing. */
  of(merchant: string): Tracing;
  /** @param route the path, with names instead of what differs */
  request(headers: TraceHeaders, method: string, route: string): RequestTrace | null;
  /** @param traceparent of what has caused it; null for nothing */
  delivery(traceparent: string | null, delivery: SentDelivery): DeliveryTrace | null;
  /** @param traceparent of the request that has asked for it; null when that isn't traced, and so isn't this */
  bulk(traceparent: string | null, operation: TracedBulk): BulkTrace | null;
  /** Sends what waits, if the collector takes it at once. */
  close(): Promise<void>;
}
