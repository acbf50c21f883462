import { AggregatorRegistry, Registry } from "prom-client";
import type { MetricObjectWithValues, MetricValue } from "prom-client";
import { watchBacklog } from "../http/backlog-metrics.ts";
import { collectProcessMetrics } from "../http/metrics.ts";
import { addCounter, addGauge } from "../http/tallies.ts";
import type { Background } from "./background.ts";
import type { SharedParts } from "./common.ts";
import type { OpenMerchants } from "./open-merchants.ts";

/** The metrics of a process with several merchants: its own, and each open merchant's, labelled with its name. */
export class MerchantsRegistry extends Registry {
  readonly #own = new Registry();
  readonly #merchants: OpenMerchants;

  constructor({ budget, pruned }: SharedParts, merchants: OpenMerchants, background: Background) {
    super();
    this.#merchants = merchants;
    this.#own.registerMetric(pruned);
    collectProcessMetrics(this.#own);
    const open = "Merchants that are open; the next request opens another one.";
    addGauge(this.#own, "service_merchants_open", open, [], () => [[{}, merchants.all.length]]);
    const connections = "Connections to Postgres of all merchants together: open, and waiting for one.";
    addGauge(this.#own, "service_merchants_connections", connections, ["state"], () =>
      Object.entries(budget.counts).map(([state, count]) => [{ state }, count]),
    );
    this.#watch(background);
  }

  #watch(background: Background): void {
    const working = "Merchants that have a turn at background work, or wait for one, by kind of work.";
    addGauge(this.#own, "service_merchants_working", working, ["work", "state"], () =>
      Object.entries(background.counts).flatMap(([work, counts]) =>
        Object.entries(counts).map(([state, count]) => [{ work, state }, count] as const),
      ),
    );
    const away = "Merchants whose background work is paused because their database can't be reached.";
    addGauge(this.#own, "service_merchants_away", away, [], () => [[{}, background.visits.away]]);
    const visits = "Visits to merchants' databases to find background work.";
    addCounter(this.#own, "service_merchants_visits_total", visits, [], () => [[{}, background.visits.done]]);
    const { backlogs } = background;
    watchBacklog(this.#own, async () => backlogs.sum);
    const lag =
      "How long the oldest work has been waiting, for the merchants with the longest waits: up to five per kind of work.";
    const lags = () => backlogs.worst.map(({ seconds, ...labels }) => [labels, seconds] as const);
    // Several processes read the same values
    addGauge(this.#own, "service_merchant_lag_seconds", lag, ["merchant", "work"], lags, "max");
  }

  override async getMetricsAsJSON(): Promise<MetricObjectWithValues<MetricValue<string>>[]> {
    const registries = [this.#own, ...this.#merchants.all.map(({ app }) => app.metrics.registry)];
    return (await Promise.all(registries.map((each) => each.getMetricsAsJSON()))).flat();
  }

  override async metrics(): Promise<string> {
    return AggregatorRegistry.aggregate([await this.getMetricsAsJSON()]).metrics();
  }
}
