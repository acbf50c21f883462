import { AggregatorRegistry, Gauge, Registry } from "prom-client";
import type { MetricObjectWithValues, MetricValue } from "prom-client";
import type { ConnectionBudget } from "../../database/connection-budget.ts";
import { collectProcessMetrics } from "../../http/metrics.ts";
import type { OpenMerchants } from "./open-merchants.ts";

/** The metrics of a process with several merchants: its own, and those of each that is open, which have its name. */
export class MerchantsRegistry extends Registry {
  readonly #own = new Registry();
  readonly #merchants: OpenMerchants;

  constructor(merchants: OpenMerchants, budget: ConnectionBudget) {
    super();
    this.#merchants = merchants;
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
  }

  override async getMetricsAsJSON(): Promise<MetricObjectWithValues<MetricValue<string>>[]> {
    const registries = [this.#own, ...this.#merchants.all.map(({ app }) => app.metrics.registry)];
    return (await Promise.all(registries.map((each) => each.getMetricsAsJSON()))).flat();
  }

  override async metrics(): Promise<string> {
    return AggregatorRegistry.aggregate([await this.getMetricsAsJSON()]).metrics();
  }
}
