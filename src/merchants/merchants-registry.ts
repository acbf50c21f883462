import { AggregatorRegistry, Counter, Gauge, Registry } from "prom-client";
import type { MetricObjectWithValues, MetricValue } from "prom-client";
import { watchBacklog } from "../http/backlog-metrics.ts";
import { collectProcessMetrics } from "../http/metrics.ts";
import type { Background } from "./background.ts";
import type { Common } from "./common.ts";
import type { OpenMerchants } from "./open-merchants.ts";

/** The metrics of a process with several merchants: its own, and those of each that is open, which have its name. */
export class MerchantsRegistry extends Registry {
  readonly #own = new Registry();
  readonly #merchants: OpenMerchants;

  constructor({ budget, pruned }: Common, merchants: OpenMerchants, background: Background) {
    super();
    this.#merchants = merchants;
    this.#own.registerMetric(pruned);
    collectProcessMetrics(this.#own);
    new Gauge({
      name: "service_merchants_open",
      help: "Merchants whose requests are answered at the moment; the others are opened by their next request.",
      registers: [this.#own],
      collect() {
        this.set(merchants.all.length);
      },
    });
    new Gauge({
      name: "service_merchants_connections",
      help: "Connections to Postgres of all merchants together: open ones, and those that are waited for.",
      labelNames: ["state"],
      registers: [this.#own],
      collect() {
        for (const [state, count] of Object.entries(budget.counts)) this.set({ state }, count);
      },
    });
    this.#watch(background);
    const { backlogs } = background;
    watchBacklog(this.#own, async () => backlogs.sum);
    new Gauge({
      name: "service_merchant_lag_seconds",
      help: "How long the oldest waits, of the merchants where that is longest: up to five for each kind of work.",
      labelNames: ["merchant", "work"],
      registers: [this.#own],
      // Several processes see the same
      aggregator: "max",
      collect() {
        this.reset();
        for (const { seconds, ...labels } of backlogs.worst) this.set(labels, seconds);
      },
    });
  }

  #watch(background: Background): void {
    const registers = [this.#own];
    new Gauge({
      name: "service_merchants_working",
      help: "Merchants that have their turn of background work, or wait for it, by its kind.",
      labelNames: ["work", "state"],
      registers,
      collect() {
        for (const [work, counts] of Object.entries(background.counts))
          for (const [state, count] of Object.entries(counts)) this.set({ work, state }, count);
      },
    });
    new Gauge({
      name: "service_merchants_away",
      help: "Merchants whose background work rests because their database can't be asked.",
      registers,
      collect() {
        this.set(background.visits.away);
      },
    });
    new Counter({
      name: "service_merchants_visits_total",
      help: "How often the database of a merchant was asked for background work.",
      registers,
      collect() {
        this.reset();
        this.inc(background.visits.done);
      },
    });
  }

  override async getMetricsAsJSON(): Promise<MetricObjectWithValues<MetricValue<string>>[]> {
    const registries = [this.#own, ...this.#merchants.all.map(({ app }) => app.metrics.registry)];
    return (await Promise.all(registries.map((each) => each.getMetricsAsJSON()))).flat();
  }

  override async metrics(): Promise<string> {
    return AggregatorRegistry.aggregate([await this.getMetricsAsJSON()]).metrics();
  }
}
