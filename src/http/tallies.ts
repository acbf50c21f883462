import { Counter, Gauge } from "prom-client";
import type { Histogram, LabelValues, Registry } from "prom-client";

// prom-client serializes the labels at each count and looks up the value by them: 7 to 10 % of Node's time for a small
// read (docs/internals/fast-paths.md). Here the counts of requests are added up by an object per set of labels, until the
// metrics are read.

/** The values of a metric with their labels. */
type Labelled = Iterable<readonly [labels: LabelValues<string>, value: number]>;

/** Adds a gauge whose values are read when needed. @param aggregator how the values of several processes are combined */
export function addGauge(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[],
  read: () => Labelled | Promise<Labelled>,
  aggregator: "sum" | "max" = "sum",
): void {
  new Gauge({
    name,
    help,
    labelNames,
    aggregator,
    registers: [registry],
    async collect() {
      const values = await read();
      if (labelNames.length === 0) this.remove();
      else this.reset();
      for (const [labels, value] of values) this.set(labels, value);
    },
  });
}

/** Adds a counter whose values are read when needed. */
export function addCounter(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[],
  read: () => Labelled,
): void {
  new Counter({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const [labels, count] of read()) this.inc(labels, count);
    },
  });
}

/** The number of durations in each bucket, and the sum of all. */
interface Durations {
  counts: number[];
  seconds: number;
}

export interface DurationsOptions {
  name: string;
  help: string;
  /** Upper bounds, in seconds. */
  buckets: readonly number[];
}

/** A histogram of durations for each set of labels. */
export class DurationHistograms<Labels extends object> {
  readonly #options: DurationsOptions;
  readonly #all = new Map<Labels, Durations>();

  constructor(registry: Registry, options: DurationsOptions) {
    this.#options = options;
    const { name, help } = options;
    const metric = { name, help, type: "histogram", aggregator: "sum" };
    const reset = () => this.#all.clear();
    // All that a registry of prom-client 15.1 uses of a histogram; test/http/tallies.test.ts compares this with its own
    const histogram = { ...metric, reset, get: async () => ({ ...metric, values: this.#values() }) };
    registry.registerMetric(histogram as unknown as Histogram);
  }

  /** Starts a set of labels at zero, so that it is reported even without durations. */
  begin(labels: Labels): Durations {
    const { buckets } = this.#options;
    const durations = { counts: [...buckets, Infinity].map(() => 0), seconds: 0 };
    this.#all.set(labels, durations);
    return durations;
  }

  /** Counts a duration. @param labels always the same object for the same labels */
  add(labels: Labels, seconds: number): void {
    const durations = this.#all.get(labels) ?? this.begin(labels);
    const { buckets } = this.#options;
    let index = 0;
    while (index < buckets.length && seconds > buckets[index]!) index++;
    durations.counts[index]!++;
    durations.seconds += seconds;
  }

  #values() {
    const { name, buckets } = this.#options;
    const bounds = [...buckets, "+Inf"];
    return [...this.#all].flatMap(([labels, { counts, seconds }]) => {
      let sum = 0;
      const upTo = bounds.map((le, index) => ({
        metricName: `${name}_bucket`,
        labels: { le, ...labels },
        value: (sum += counts[index]!),
      }));
      const ofAll = [
        { metricName: `${name}_sum`, labels: { ...labels }, value: seconds },
        { metricName: `${name}_count`, labels: { ...labels }, value: sum },
      ];
      return [...upTo, ...ofAll];
    });
  }
}
