import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Attributes, Context, Span, Tracer } from "@opentelemetry/api";
import type { StatementRun } from "../postgres/pipeline/transaction-settings.ts";
import type { NamedOperation } from "../graphql/signature.ts";
import { statementAttributes } from "./statement.ts";

/** Milliseconds since 1970. Nobody changes it while a request runs, so that its spans lie within each other. */
type Clock = () => number;

export function startClock(): Clock {
  const base = Date.now() - performance.now();
  return () => base + performance.now();
}

/** How a request ended. */
interface RequestEnd {
  status: number;
  requestId: string;
  credentialId: string | undefined;
  points: number | undefined;
  code: string | undefined;
}

/** The span of some work, with spans of the statements that ran for it. */
export class Trace {
  readonly tracer: Tracer;
  /** The parent of the next spans. */
  current: Span;
  readonly now: Clock;

  constructor(tracer: Tracer, span: Span, now: Clock) {
    this.tracer = tracer;
    this.current = span;
    this.now = now;
  }

  get context(): Context {
    return trace.setSpan(ROOT_CONTEXT, this.current);
  }

  get traceId(): string {
    return this.current.spanContext().traceId;
  }

  /** Headers of a message that belongs to it: `traceparent`, and `tracestate` if there is one. */
  get headers(): Record<string, string> {
    const { traceId, spanId, traceFlags, traceState } = this.current.spanContext();
    // What OpenTelemetry's libraries have taken of it: valid members, 32 and 512 characters at most
    const tracestate = traceState?.serialize();
    return { traceparent: `00-${traceId}-${spanId}-0${traceFlags & 1}`, ...(tracestate && { tracestate }) };
  }

  /** Its name for whatever comes of it, as W3C Trace Context has it: traceparent and, behind a space, tracestate. */
  get traceparent(): string {
    return Object.values(this.headers).join(" ");
  }

  addStatement(ran: StatementRun): void {
    const { name, attributes, errorType } = statementAttributes(ran);
    const now = this.now();
    const options = { kind: SpanKind.CLIENT, attributes, startTime: now - ran.ms };
    const span = this.tracer.startSpan(name, options, this.context);
    if (errorType !== null) markFailed(span, errorType);
    span.end(now);
  }
}

/** The spans of a request: its own, its operation's, and one of each statement. */
export class RequestTrace extends Trace {
  readonly #request: Span;

  constructor(tracer: Tracer, span: Span, now: Clock) {
    super(tracer, span, now);
    this.#request = span;
  }

  beginOperation({ id, name, version }: NamedOperation, type: string): void {
    const attributes: Attributes = { "graphql.operation.type": type, "service.operation.id": id };
    if (name !== null) attributes["graphql.operation.name"] = name;
    attributes["service.version_of_api"] = version;
    this.current = this.tracer.startSpan(type, { attributes, startTime: this.now() }, this.context);
  }

  end({ status, requestId, credentialId, points, code }: RequestEnd): void {
    const operation = this.current === this.#request ? null : this.current;
    if (code !== undefined) {
      if (operation) markFailed(operation, code);
      this.#request.setAttribute("error.type", code);
    }
    const now = this.now();
    operation?.end(now);
    this.#request.setAttribute("http.response.status_code", status);
    this.#request.setAttribute("service.request_id", requestId);
    if (credentialId !== undefined) this.#request.setAttribute("service.credential_id", credentialId);
    if (points !== undefined) this.#request.setAttribute("service.points", points);
    // Of what a client did wrong, the server's span says nothing bad
    if (status >= 500) markFailed(this.#request, code ?? String(status));
    this.#request.end(now);
  }
}

/** The span of an attempt to deliver a webhook, with spans of the statements that read its payload. */
export class DeliveryTrace extends Trace {
  end({ status, error }: { status: number | null; error: string | null }): void {
    if (status !== null) this.current.setAttribute("http.response.status_code", status);
    if (error !== null) markFailed(this.current, status === null ? "no_answer" : String(status));
    this.current.end(this.now());
  }
}

/** The spans of work on a bulk operation: its own, one of each chunk, and one of each statement. */
export class BulkTrace extends Trace {
  readonly #work: Span;

  constructor(tracer: Tracer, span: Span, now: Clock) {
    super(tracer, span, now);
    this.#work = span;
  }

  beginChunk(number: number): void {
    const options = { attributes: { "service.bulk.chunk": number }, startTime: this.now() };
    this.current = this.tracer.startSpan("chunk", options, this.context);
  }

  endChunk(rows: number): void {
    this.current.setAttribute("service.bulk.rows", rows);
    this.#endPresent();
  }

  /** @param code of what has ended it too early, or null */
  end(code: string | null): void {
    if (code !== null) {
      markFailed(this.current, code);
      markFailed(this.#work, code);
    }
    if (this.current !== this.#work) this.#endPresent();
    this.#endPresent();
  }

  #endPresent(): void {
    this.current.end(this.now());
    this.current = this.#work;
  }
}

/** Marks what has failed, without a message, which could quote values. */
function markFailed(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
