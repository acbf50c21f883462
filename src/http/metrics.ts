import type { Pool } from "pg";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import type { Replicas } from "../replicas/replicas.ts";
import type { Waits } from "../lib/fair-queue.ts";
import { readCounts } from "../reads/answer-by-statement.ts";
import { RequestMetrics } from "./request-figures.ts";
import type { FinishedRequest } from "./request-figures.ts";
import { addCounter, addGauge } from "./tallies.ts";

const webhookOutcomes = ["delivered", "failed", "gone", "withheld", "costly", "unpaid"];

/** Adds the metrics of a process as a whole. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  const reads = "Read operations, by executor: one SQL statement (sql), or Grafast (grafast).";
  addCounter(registry, "service_reads_total", reads, ["executor"], () =>
    Object.entries(readCounts).map(([executor, count]) => [{ executor }, count]),
  );
  const help = "The number of processes whose metrics are summed here.";
  new Gauge({ name: "service_processes", help, registers: [registry] }).set(1);
}

/** Creates the counter of rows that were deleted because of their age. */
export const createPrunedCounter = (registers: Registry[]): Counter =>
  new Counter({
    name: "service_pruned_rows_total",
    help: "Rows that background work has deleted because of their age, by kind.",
    labelNames: ["what"],
    registers,
  });

/** Metrics of a service, for Prometheus. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requestMetrics = new RequestMetrics(this.registry);
  readonly #webhooks = new Counter({
    name: "service_webhook_attempts_total",
    help: "Attempts to send a webhook, by result: delivered, failed, gone; or withheld, costly or unpaid if nothing was sent.",
    labelNames: ["outcome"],
    registers: [this.registry],
  });
  readonly #pruned = createPrunedCounter([this.registry]);
  readonly #pools: [name: string, pool: Pool, waiting: () => number][] = [];
  readonly #waits: [name: string, of: { readonly waits: Waits }][] = [];

  constructor(streams: { readonly counts: { running: number } }, replicas: Replicas | null) {
    if (replicas) this.#watchReplicas(replicas);
    // Start at zero, so that rates include the first attempt
    for (const outcome of webhookOutcomes) this.#webhooks.inc({ outcome }, 0);
    this.#watchPools();
    this.#watchWaits();
    addGauge(this.registry, "service_streams", "Open streams of server-sent events.", [], () => [
      [{}, streams.counts.running],
    ]);
  }

  /** Adds the connections of a pool. @param waiting returns how many requests wait for one outside the pool */
  addPool(name: string, pool: Pool, waiting: () => number = () => 0): void {
    this.#pools.push([name, pool, waiting]);
  }

  /** Adds how long requests wait for their turn. */
  addWaits(name: string, of: { readonly waits: Waits }): void {
    this.#waits.push([name, of]);
  }

  /** Counts an attempt to send a webhook. */
  readonly countWebhook = (outcome: string): void => this.#webhooks.inc({ outcome });

  /** Counts rows that were deleted because of their age. */
  readonly countPruned = (what: string, rows: number): void => this.#pruned.inc({ what }, rows);

  /** Counts a finished request. */
  count(answered: FinishedRequest): void {
    this.#requestMetrics.count(answered);
  }

  #watchPools(): void {
    const help =
      "Connections to Postgres, by pool and state: busy, idle, requests waiting for one (wanted), maximum (most).";
    addGauge(this.registry, "service_connections", help, ["pool", "state"], () =>
      this.#pools.flatMap(([name, pool, waiting]) => {
        const figures = {
          busy: pool.totalCount - pool.idleCount,
          idle: pool.idleCount,
          wanted: pool.waitingCount + waiting(),
          most: pool.options.max,
        };
        return Object.entries(figures).map(([state, count]) => [{ pool: name, state }, count] as const);
      }),
    );
  }

  #watchWaits(): void {
    const read = (figure: (waits: Waits) => number) => () =>
      this.#waits.map(([name, { waits }]) => [{ for: name }, figure(waits)] as const);
    const counts =
      "Requests that had to wait for their turn: for the event loop, a connection, or as a costly operation.";
    const [counted, lasted] = [read(({ count }) => count), read(({ ms }) => ms / 1_000)];
    addCounter(this.registry, "service_waits_total", counts, ["for"], counted);
    addCounter(
      this.registry,
      "service_wait_seconds_total",
      "How long these requests waited in total.",
      ["for"],
      lasted,
    );
    const waiting = read((waits) => waits.waiting);
    addGauge(this.registry, "service_waiting", "Requests that are waiting now.", ["for"], waiting);
  }

  /** Adds how far replicas lag behind, and which servers answered reads. */
  #watchReplicas({ all, counts }: Replicas): void {
    const lag = "How far a replica lags behind the primary; -1 while it isn't used.";
    const lags = () =>
      all.map(
        ({ name, lagMs, obstacle }) => [{ replica: name }, obstacle === null ? lagMs / 1_000 : -1] as const,
      );
    addGauge(this.registry, "service_replica_lag_seconds", lag, ["replica"], lags, "max");
    const help =
      "Reads by one SQL statement: answered by a replica, or by the primary because the replica lagged behind the client's own writes (behind), was missing, failed, or couldn't answer (fresh).";
    addCounter(this.registry, "service_replica_reads_total", help, ["from"], () =>
      Object.entries(counts).map(([from, count]) => [{ from }, count]),
    );
  }
}
