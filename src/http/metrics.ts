import type { Pool } from "pg";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import type { Replicas } from "../replicas/replicas.ts";
import type { Waits } from "../lib/fair-queue.ts";
import { readCounts } from "../reads/answer-by-statement.ts";
import { RequestFigures } from "./request-figures.ts";
import type { Answered } from "./request-figures.ts";
import { counterOf, gaugeOf } from "./tallies.ts";

const webhookOutcomes = ["delivered", "failed", "gone", "withheld", "costly", "unpaid"];

/** Adds what is counted for a process as a whole. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  const reads = "Read operations, by executor: one SQL statement (sql), or Grafast (grafast).";
  counterOf(registry, "service_reads_total", reads, ["executor"], () =>
    Object.entries(readCounts).map(([executor, count]) => [{ executor }, count]),
  );
  const help = "Processes that these figures are sums of.";
  new Gauge({ name: "service_processes", help, registers: [registry] }).set(1);
}

/** What counts rows that were deleted by their age. */
export const prunedCounter = (registers: Registry[]): Counter =>
  new Counter({
    name: "service_pruned_rows_total",
    help: "Rows that background work has deleted because of their age, by what they were.",
    labelNames: ["what"],
    registers,
  });

/** Metrics of a service, for Prometheus. */
export class Metrics {
  readonly registry = new Registry();
  readonly #figures = new RequestFigures(this.registry);
  readonly #webhooks = new Counter({
    name: "service_webhook_attempts_total",
    help: "Attempts to send a webhook, by result: delivered, failed, gone; or withheld, costly or unpaid, when nothing was sent.",
    labelNames: ["outcome"],
    registers: [this.registry],
  });
  readonly #pruned = prunedCounter([this.registry]);
  readonly #pools: [name: string, pool: Pool, waiting: () => number][] = [];
  readonly #waits: [name: string, of: { readonly waits: Waits }][] = [];

  constructor(streams: { readonly counts: { running: number } }, replicas: Replicas | null) {
    if (replicas) this.#watchReplicas(replicas);
    // So that rates begin with the first
    for (const outcome of webhookOutcomes) this.#webhooks.inc({ outcome }, 0);
    this.#watchPools();
    this.#watchWaits();
    gaugeOf(this.registry, "service_streams", "Open streams of server-sent events.", [], () => [
      [{}, streams.counts.running],
    ]);
  }

  /** Shows connections of a pool. @param waiting how many requests wait for one elsewhere than in the pool */
  watchPool(name: string, pool: Pool, waiting: () => number = () => 0): void {
    this.#pools.push([name, pool, waiting]);
  }

  /** Shows how long requests wait for their turn. */
  watchWaits(name: string, of: { readonly waits: Waits }): void {
    this.#waits.push([name, of]);
  }

  /** Counts an attempt to send a webhook. */
  readonly countWebhook = (outcome: string): void => this.#webhooks.inc({ outcome });

  /** Counts what was deleted because of its age. */
  readonly countPruned = (what: string, rows: number): void => this.#pruned.inc({ what }, rows);

  /** Counts a request that has been answered. */
  count(answered: Answered): void {
    this.#figures.count(answered);
  }

  #watchPools(): void {
    const help =
      "Connections to Postgres, by what they are for and what they do; and what waits for one (wanted).";
    gaugeOf(this.registry, "service_connections", help, ["pool", "state"], () =>
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
      "Requests that had to wait for their turn: on the event loop, for a connection, or as a costly one.";
    const [counted, lasted] = [read(({ count }) => count), read(({ ms }) => ms / 1_000)];
    counterOf(this.registry, "service_waits_total", counts, ["for"], counted);
    counterOf(this.registry, "service_wait_seconds_total", "How long these have waited.", ["for"], lasted);
    const waiting = read((waits) => waits.waiting);
    gaugeOf(this.registry, "service_waiting", "How many wait now.", ["for"], waiting);
  }

  /** Shows how far behind replicas are, and where reads were answered. */
  #watchReplicas({ all, counts }: Replicas): void {
    const lag = "How far a replica is behind the primary. -1 when nothing is read from it.";
    const lags = () =>
      all.map(
        ({ name, lagMs, obstacle }) => [{ replica: name }, obstacle === null ? lagMs / 1_000 : -1] as const,
      );
    gaugeOf(this.registry, "service_replica_lag_seconds", lag, ["replica"], lags, "max");
    const help =
      "Reads by one SQL statement: answered by a replica, or by the primary because the replica was behind (the client had just written), none was there, it failed, or only the primary can answer (fresh).";
    counterOf(this.registry, "service_replica_reads_total", help, ["from"], () =>
      Object.entries(counts).map(([from, count]) => [{ from }, count]),
    );
  }
}
