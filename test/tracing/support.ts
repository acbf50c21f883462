import { randomBytes } from "node:crypto";
import { pino } from "pino";
import type { TracingSettings } from "../../src/tracing/tracing.ts";
import { until } from "../lib/until.ts";
import type { CollectedSpan, Collector } from "./collector.ts";

export const quiet = pino({ level: "silent" });

/** Settings that send everything at once. */
export const settings = (endpoint: string, more: Partial<TracingSettings> = {}): TracingSettings => ({
  ...{ endpoint, serviceName: "test", isDisabled: false, sampler: "parentbased_always_on" },
  ...{ samplerArgument: 1, delayMs: 20, maxQueue: 2_048, maxBatch: 512, ...more },
});

/** A trace as a client begins it. */
export function newTrace(flags = "01") {
  const [traceId, parent] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
  return { traceId, parent, headers: { traceparent: `00-${traceId}-${parent}-${flags}` } };
}

/**
 * The spans of a trace, when there are as many as expected and none waits for the one that it is part of: a span is sent
 * when it ends, so after those within it.
 */
export async function spansOf(
  { spans }: Collector,
  traceId: string,
  count: number,
): Promise<CollectedSpan[]> {
  const found = () => spans.filter((span) => span.traceId === traceId);
  await until(() => {
    const ids = new Set(found().map(({ id }) => id));
    // Of the first one the parent is the caller's
    const firsts = found().filter(({ parent }) => !ids.has(parent));
    return ids.size >= count && firsts.length === 1;
  });
  return found().sort((one, other) => one.from - other.from);
}
