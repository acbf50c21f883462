import type { Logger } from "pino";
import type { Tracing, TracingSettings } from "./tracing.ts";

/** Opens the way to the collector; null without one. */
export async function openTracing(settings: TracingSettings, logger: Logger): Promise<Tracing | null> {
  const { endpoint, isDisabled } = settings;
  if (endpoint === undefined || isDisabled) return null;
  // A third of a second of a start, which nobody else pays
  const { startTracing } = await import("./tracing.ts");
  return startTracing(endpoint, settings, logger);
}
