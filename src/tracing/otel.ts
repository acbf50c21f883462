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
import { within } from "../lib/within.ts";
import { OtelBulk, OtelDelivery, OtelRequest, startClock } from "./spans.ts";
import type { BulkTrace, DeliveryTrace, RequestTrace, SentDelivery, TracedBulk } from "./tracing.ts";
import type { TraceHeaders, Tracing, TracingSettings } from "./tracing.ts";

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

const propagator = new W3CTraceContextPropagator();
const header = {
  get: (headers: TraceHeaders, name: string) => headers[name],
  keys: (headers: TraceHeaders) => Object.keys(headers),
};

/** Traces by OpenTelemetry's libraries, in its semantic conventions for HTTP, GraphQL and databases. */
export class OtelTracing implements Tracing {
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;

  constructor(endpoint: string, settings: TracingSettings, logger: Logger) {
    complainTo(logger);
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
    this.#provider = new TracerProvider({
      resource,
      sampler: samplerOf(settings),
      spanProcessors: [batches],
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
      bulk: (...asked) => this.bulk(...asked, own),
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
      "http.request.method": "POST",
      "server.address": hostname,
      "url.scheme": protocol.slice(0, -1),
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
      ...(delivery.failures > 0 && { "http.request.resend_count": delivery.failures }),
      "service.webhook.topic": delivery.topic,
      "service.webhook.subscription_id": delivery.subscriptionId,
      "service.webhook.delivery_id": delivery.deliveryId,
      ...more,
    };
    const parent = traceparent === null ? ROOT_CONTEXT : causeIn(traceparent);
    const now = startClock();
    const options = { kind: SpanKind.CLIENT, attributes, startTime: now() };
    const span = this.#tracer.startSpan("POST webhook", options, parent);
    return span.isRecording() ? new OtelDelivery(this.#tracer, span, now) : null;
  }

  bulk(traceparent: string | null, operation: TracedBulk, more: Attributes = {}): BulkTrace | null {
    if (traceparent === null) return null;
    const { id, kind, resource, credentialId } = operation;
    const ofBulk = { "service.bulk.id": id, "service.bulk.resource": resource };
    const attributes = { ...ofBulk, "service.credential_id": credentialId, ...more };
    const now = startClock();
    const options = { kind: SpanKind.CONSUMER, attributes, startTime: now() };
    const span = this.#tracer.startSpan(`bulk ${kind}`, options, causeIn(traceparent));
    return span.isRecording() ? new OtelBulk(this.#tracer, span, now) : null;
  }

  async close(): Promise<void> {
    await within(closingMs, this.#provider.shutdown());
  }
}

/** The cause of something later, by the text that was kept with it. */
function causeIn(text: string): Context {
  const [traceparent, ...tracestate] = text.split(" ");
  return propagator.extract(ROOT_CONTEXT, { traceparent, tracestate: tracestate.join(" ") }, header);
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
