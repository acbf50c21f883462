import { diag, DiagLogLevel, ROOT_CONTEXT, SpanKind } from "@opentelemetry/api";
import type { Attributes, Context, Tracer } from "@opentelemetry/api";
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
import { settlesWithin } from "../lib/within.ts";
import { BulkTrace, DeliveryTrace, RequestTrace, startClock } from "./spans.ts";
import type { Trace } from "./spans.ts";

/** Milliseconds that a stop waits for the collector. */
const closingMs = 1_000;
/** Milliseconds for one message to the collector. */
const exportMs = 10_000;
/** Milliseconds between two log lines about the collector. */
const complaintMs = 60_000;
/** Characters of a text in a span, such as a statement. */
const maxCharacters = 8_000;
/** Methods that may be part of a span's name; clients could send any other. */
const methods = new Set(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]);

/** OpenTelemetry's own settings for the target and amount of traces. Its libraries read the other settings themselves. */
export interface TracingSettings {
  /** Without it, nothing is traced and no library is loaded. */
  endpoint: string | undefined;
  serviceName: string;
  isDisabled: boolean;
  /** The rule that samples traces without an earlier decision, and says whether to follow the client's decision. */
  sampler: string;
  samplerArgument: number;
  /** Milliseconds between two messages to the collector. */
  delayMs: number;
  /** Spans that wait at most, and of one message. Others are lost. */
  maxQueue: number;
  maxBatch: number;
}

/** Headers, by which a client may name its trace: `traceparent` and `tracestate`. */
type TraceHeaders = Readonly<Record<string, string | string[] | undefined>>;

const propagator = new W3CTraceContextPropagator();
const header = {
  get: (headers: TraceHeaders, name: string) => headers[name],
  keys: (headers: TraceHeaders) => Object.keys(headers),
};

/** A message to a receiver. */
interface SentDelivery {
  url: string;
  topic: string;
  subscriptionId: string;
  deliveryId: string;
  /** Attempts that failed before. */
  failures: number;
}

/** A bulk operation that is worked on. */
interface TracedBulk {
  id: string;
  kind: string;
  resource: string;
  credentialId: string;
}

/**
 * Traces by OpenTelemetry's libraries, in its semantic conventions for HTTP, GraphQL and databases. What isn't sampled has no
 * trace. Others import this as a type only, because the libraries are loaded only where there is a collector.
 */
export class Tracing {
  readonly #tracer: Tracer;
  /** Attributes of all its traces. */
  readonly #own: Attributes;
  /** Sends what waits, if the collector takes it at once. */
  readonly close: () => Promise<void>;

  constructor(tracer: Tracer, own: Attributes, close: () => Promise<void>) {
    this.#tracer = tracer;
    this.#own = own;
    this.close = close;
  }

  /** The same for one of several merchants, whose name its spans have. It needs no closing. */
  forMerchant(merchant: string): Tracing {
    return new Tracing(this.#tracer, { "service.merchant": merchant }, async () => {});
  }

  /** @param route the path, with names instead of what differs */
  beginRequest(headers: TraceHeaders, method: string, route: string): RequestTrace | null {
    const known = methods.has(method) ? method : "_OTHER";
    const name = `${known === "_OTHER" ? "HTTP" : known} ${route}`;
    const attributes = { "http.request.method": known, "http.route": route, "url.scheme": "http" };
    const parent = propagator.extract(ROOT_CONTEXT, headers, header);
    return this.#begin(RequestTrace, name, SpanKind.SERVER, attributes, parent);
  }

  /** @param traceparent of what has caused it; null for nothing */
  beginDelivery(traceparent: string | null, delivery: SentDelivery): DeliveryTrace | null {
    const { hostname, port, protocol } = new URL(delivery.url);
    const attributes = {
      "http.request.method": "POST",
      "server.address": hostname,
      "url.scheme": protocol.slice(0, -1),
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
      ...(delivery.failures > 0 && { "http.request.resend_count": delivery.failures }),
      "service.webhook.topic": delivery.topic,
      "service.webhook.subscription_id": delivery.subscriptionId,
      "service.webhook.delivery_id": delivery.deliveryId,
    };
    const parent = traceparent === null ? ROOT_CONTEXT : parseCause(traceparent);
    return this.#begin(DeliveryTrace, "POST webhook", SpanKind.CLIENT, attributes, parent);
  }

  /** @param traceparent of the request that has asked for it; null when that isn't traced, and so isn't this */
  beginBulk(traceparent: string | null, { id, kind, resource, credentialId }: TracedBulk): BulkTrace | null {
    if (traceparent === null) return null;
    const ofBulk = { "service.bulk.id": id, "service.bulk.resource": resource };
    const attributes = { ...ofBulk, "service.credential_id": credentialId };
    return this.#begin(BulkTrace, `bulk ${kind}`, SpanKind.CONSUMER, attributes, parseCause(traceparent));
  }

  #begin<Begun extends Trace>(
    Of: new (...span: ConstructorParameters<typeof Trace>) => Begun,
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    parent: Context,
  ): Begun | null {
    const now = startClock();
    const options = { kind, attributes: { ...attributes, ...this.#own }, startTime: now() };
    const span = this.#tracer.startSpan(name, options, parent);
    return span.isRecording() ? new Of(this.#tracer, span, now) : null;
  }
}

/** Begins to send traces to a collector. */
export function startTracing(endpoint: string, settings: TracingSettings, logger: Logger): Tracing {
  logFailures(logger);
  const { serviceName, delayMs, maxQueue, maxBatch } = settings;
  const resource = defaultResource()
    .merge(resourceFromAttributes({ "service.name": serviceName }))
    .merge(detectResources({ detectors: [envDetector] }));
  const batches = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, "")}/v1/traces` }),
    scheduledDelayMillis: delayMs,
    exportTimeoutMillis: exportMs,
    maxQueueSize: maxQueue,
    maxExportBatchSize: Math.min(maxBatch, maxQueue),
  });
  const provider = new TracerProvider({
    resource,
    sampler: createSampler(settings),
    spanProcessors: [batches],
    spanLimits: { attributeValueLengthLimit: maxCharacters },
  });
  const tracer = provider.getTracer("stock-and-order-graphql");
  return new Tracing(tracer, {}, async () => void (await settlesWithin(closingMs, provider.shutdown())));
}

/** The cause of something later, by the text that was kept with it. */
function parseCause(text: string): Context {
  const [traceparent, ...tracestate] = text.split(" ");
  return propagator.extract(ROOT_CONTEXT, { traceparent, tracestate: tracestate.join(" ") }, header);
}

function createSampler({ sampler, samplerArgument }: TracingSettings): Sampler {
  const root = sampler.endsWith("always_on")
    ? new AlwaysOnSampler()
    : sampler.endsWith("always_off")
      ? new AlwaysOffSampler()
      : new TraceIdRatioBasedSampler(samplerArgument);
  return sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

/** Has the log say, now and then, that the collector can't be reached. */
function logFailures(logger: Logger): void {
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
