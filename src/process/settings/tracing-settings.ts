import { z } from "zod";
import { flag, oneOf, optional, setting, text, url, wholeNumber } from "./setting.ts";
import type { Kind } from "./setting.ts";

const milliseconds = wholeNumber(1, 600_000);
const share: Kind<number> = { schema: z.coerce.number().min(0).max(1), expected: "a number from 0 to 1" };

const samplers = oneOf(
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
);

/** OpenTelemetry's own variables. Its libraries read further ones. */
export const tracing = {
  traces: {
    endpoint: optional(
      "OTEL_EXPORTER_OTLP_ENDPOINT",
      url(/^https?$/, "a URL that begins with `http:` or `https:`"),
      {
        example: "http://localhost:4318",
        secret: true,
        doc: "The address of an OpenTelemetry collector, which receives traces by OTLP (HTTP, protobuf) at `/v1/traces`. Without it nothing is traced. `OTEL_EXPORTER_OTLP_HEADERS`, `_TIMEOUT`, `_COMPRESSION`, `_CERTIFICATE` and `OTEL_RESOURCE_ATTRIBUTES` work too (docs/guides/monitoring.md).",
      },
    ),
    serviceName: setting("OTEL_SERVICE_NAME", text("a name"), "stock-and-order-graphql", {
      doc: "The name of this service in traces.",
    }),
    sampler: setting("OTEL_TRACES_SAMPLER", samplers, "parentbased_always_on", {
      doc: "The sampler, which decides which traces are kept. With `parentbased_`, it follows the client's decision if there is one.",
    }),
    samplerArgument: setting("OTEL_TRACES_SAMPLER_ARG", share, 1, {
      example: "0.05",
      doc: "The share of traces that `traceidratio` keeps, from 0 to 1.",
    }),
    delayMs: setting("OTEL_BSP_SCHEDULE_DELAY", milliseconds, 5_000, {
      doc: "The number of milliseconds between two messages to the collector.",
    }),
    maxQueue: setting("OTEL_BSP_MAX_QUEUE_SIZE", wholeNumber(1, 1_000_000), 2_048, {
      doc: "The maximum number of spans that wait for the collector. Further ones are dropped.",
    }),
    maxBatch: setting("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", wholeNumber(1, 100_000), 512, {
      doc: "The maximum number of spans in one message.",
    }),
    isDisabled: setting("OTEL_SDK_DISABLED", flag, false, { doc: "Whether tracing is switched off." }),
  },
};
