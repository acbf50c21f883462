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
