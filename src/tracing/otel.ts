import { diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Attributes, Context, Span, Tracer } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Sampler } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import type { Ran } from "../database/pipeline/settings.ts";
import type { NamedOperation } from "../graphql/signature.ts";
import { within } from "../lib/within.ts";
import { statementAttributes } from "./statement.ts";
import type { DeliveryTrace, RequestEnd, RequestTrace, SentDelivery } from "./tracing.ts";
import type { TraceHeaders, Tracing, TracingSettings } from "./tracing.ts";

/** Milliseconds that a stop waits for the collector. */
const closingMs = 1_000;
/** Milliseconds for one message to the collector. */
const exportMs = 10_000;
/** Milliseconds between two log lines about the collector. */
const complaintMs = 60_000;
/** Methods that may be part of a span's name; clients could send any other. */
const methods = new Set(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]);

const propagator = new W3CTraceContextPropagator();
const header = {
  get: (headers: TraceHeaders, name: string) => headers[name],
  keys: (headers: TraceHeaders) => Object.keys(headers),
};

/** Traces by OpenTelemetry's libraries, in its semantic conventions for HTTP, GraphQL and databases. */
export class OtelTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor(settings: TracingSettings, logger: Logger) {
    complainTo(logger);
    const { endpoint, serviceName, delayMs, maxQueue, maxBatch } = settings;
    const resource = defaultResource()
      .merge(resourceFromAttributes({ "service.name": serviceName }))
      .merge(detectResources({ detectors: [envDetector] }));
    const batches = new BatchSpanProcessor({
      exporter: new OTLPTraceExporter({ url: `${endpoint!.replace(/\/$/, "")}/v1/traces` }),
      ...{ scheduledDelayMillis: delayMs, exportTimeoutMillis: exportMs },
      ...{ maxQueueSize: maxQueue, maxExportBatchSize: Math.min(maxBatch, maxQueue) },
    });
    this.#provider = new TracerProvider({
      ...{ resource, sampler: samplerOf(settings), spanProcessors: [batches] },
      spanLimits: { attributeValueLengthLimit: maxCharacters },
    });
    this.#tracer = this.#provider.getTracer("stock-and-order-graphql");
  }

  of(merchant: string): Tracing {
    const own = { "service.merchant": merchant };
    return {
      of: (other) => this.of(other),
      request: (...asked) => this.request(...asked, own),
      delivery: (...asked) => this.delivery(...asked, own),
      close: async () => {},
    };
  }

  request(headers: TraceHeaders, method: string, route: string, more: Attributes = {}): RequestTrace | null {
    const known = methods.has(method) ? method : "_OTHER";
    const ofHttp = { "http.request.method": known, "http.route": route, "url.scheme": "http" };
    const attributes = { ...ofHttp, ...more };
    const name = `${known === "_OTHER" ? "HTTP" : known} ${route}`;
    const parent = propagator.extract(ROOT_CONTEXT, headers, header);
    const now = startClock();
    const span = this.#tracer.startSpan(
      name,
      { kind: SpanKind.SERVER, attributes, startTime: now() },
      parent,
    );
    return span.isRecording() ? new OtelRequest(this.#tracer, span, now) : null;
  }

  delivery(traceparent: string | null, delivery: SentDelivery, more: Attributes = {}): DeliveryTrace | null {
    const { hostname, port, protocol } = new URL(delivery.url);
    const attributes = {
      ...{ "http.request.method": "POST", "server.address": hostname, "url.scheme": protocol.slice(0, -1) },
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
      ...(delivery.failures > 0 && { "http.request.resend_count": delivery.failures }),
      "service.webhook.topic": delivery.topic,
      "service.webhook.subscription_id": delivery.subscriptionId,
      "service.webhook.delivery_id": delivery.deliveryId,
      ...more,
    };
    const parent =
      traceparent === null ? ROOT_CONTEXT : propagator.extract(ROOT_CONTEXT, { traceparent }, header);
    const now = startClock();
    const options = { kind: SpanKind.CLIENT, attributes, startTime: now() };
    const span = this.#tracer.startSpan("POST webhook", options, parent);
    return span.isRecording() ? new OtelDelivery(this.#tracer, span, now) : null;
  }

  async close(): Promise<void> {
    await within(closingMs, this.#provider.shutdown());
  }
}

/** Milliseconds since 1970. Nobody changes it while a request runs, so that its spans lie within each other. */
type Clock = () => number;

function startClock(): Clock {
  const base = Date.now() - performance.now();
  return () => base + performance.now();
}

/** Characters of a text in a span, such as a statement. */
const maxCharacters = 8_000;

/** Spans of statements that ran for something. */
class OtelStatements {
  readonly tracer: Tracer;
  /** The span that whatever comes next belongs to. */
  present: Span;
  readonly now: Clock;

  constructor(tracer: Tracer, span: Span, now: Clock) {
    this.tracer = tracer;
    this.present = span;
    this.now = now;
  }

  get within(): Context {
    return trace.setSpan(ROOT_CONTEXT, this.present);
  }

  get traceId(): string {
    return this.present.spanContext().traceId;
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.present.spanContext();
    return `00-${traceId}-${spanId}-0${traceFlags & 1}`;
  }

  statement(ran: Ran): void {
    const { name, attributes, errorType } = statementAttributes(ran);
    const now = this.now();
    const options = { kind: SpanKind.CLIENT, attributes, startTime: now - ran.ms };
    const span = this.tracer.startSpan(name, options, this.within);
    if (errorType !== null) fail(span, errorType);
    span.end(now);
  }
}

class OtelRequest extends OtelStatements implements RequestTrace {
  readonly #request: Span;

  constructor(tracer: Tracer, span: Span, now: Clock) {
    super(tracer, span, now);
    this.#request = span;
  }

  operation({ id, name, version }: NamedOperation, type: string): void {
    const attributes: Attributes = { "graphql.operation.type": type, "service.operation.id": id };
    if (name !== null) attributes["graphql.operation.name"] = name;
    attributes["service.version_of_api"] = version;
    this.present = this.tracer.startSpan(type, { attributes, startTime: this.now() }, this.within);
  }

  end({ status, requestId, credentialId, points, code }: RequestEnd): void {
    const operation = this.present === this.#request ? null : this.present;
    if (code !== undefined) {
      if (operation) fail(operation, code);
      this.#request.setAttribute("error.type", code);
    }
    const now = this.now();
    operation?.end(now);
    this.#request.setAttribute("http.response.status_code", status);
    this.#request.setAttribute("service.request_id", requestId);
    if (credentialId !== undefined) this.#request.setAttribute("service.credential_id", credentialId);
    if (points !== undefined) this.#request.setAttribute("service.points", points);
    // Of what a client did wrong, the server's span says nothing bad
    if (status >= 500) fail(this.#request, code ?? String(status));
    this.#request.end(now);
  }
}

class OtelDelivery extends OtelStatements implements DeliveryTrace {
  end({ status, error }: { status: number | null; error: string | null }): void {
    if (status !== null) this.present.setAttribute("http.response.status_code", status);
    if (error !== null) fail(this.present, status === null ? "no_answer" : String(status));
    this.present.end(this.now());
  }
}

/** Marks what has failed, without a message, which could quote values. */
function fail(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function samplerOf({ sampler, samplerArgument }: TracingSettings): Sampler {
  const root = sampler.endsWith("always_on")
    ? new AlwaysOnSampler()
    : sampler.endsWith("always_off")
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(samplerArgument);
  return sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

/** Has the log say, now and then, that the collector can't be reached. */
function complainTo(logger: Logger): void {
  let last = -Infinity;
  const complain = (message: string) => {
    if (performance.now() - last < complaintMs) return;
    last = performance.now();
    logger.warn({ reason: message.slice(0, 500) }, "traces: the collector doesn't take them");
  };
  const nothing = () => {};
  const sink = { error: complain, warn: complain, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(sink, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
