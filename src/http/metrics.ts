import type { Pool } from "pg";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import type { ReadBacklog } from "../jobs/backlog.ts";
import type { Replicas } from "../replicas/replicas.ts";
import type { Waits } from "../lib/turns.ts";
import { readCounts } from "../reads/counts.ts";
import { watchBacklog } from "./backlog-metrics.ts";
import { RequestFigures } from "./request-figures.ts";
import type { Answered } from "./request-figures.ts";

const webhookOutcomes = ["delivered", "failed", "gone", "withheld", "costly", "unpaid"];

/** Adds what is counted for a process as a whole. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  new Counter({
    name: "service_reads_total",
    help: "Read operations, by executor: one SQL statement (sql), or Grafast (grafast).",
    labelNames: ["executor"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [executor, count] of Object.entries(readCounts)) this.inc({ executor }, count);
    },
  });
  const help = "Processes that these figures are sums of.";
  new Gauge({ name: "service_processes", help, registers: [registry] }).set(1);
}

/** What counts rows that were deleted by their age. */
export const prunedCounter = (registers: Registry[]): Counter =>
  new Counter({
    name: "service_pruned_rows_total",
    help: "Rows that background work has deleted because of their age, by what they were.",
    ...{ labelNames: ["what"], registers },
  });

/** Metrics of a process, for Prometheus. */
export class Metrics {
  readonly registry = new Registry();
  readonly #figures = new RequestFigures(this.registry);
  readonly #webhooks = this.#counter(
    "service_webhook_attempts_total",
    "Attempts to send a webhook, by result: delivered, failed, gone; or withheld, costly or unpaid, when nothing was sent.",
    ["outcome"],
  );
  readonly #pruned = prunedCounter([this.registry]);
  readonly #pools: [name: string, pool: Pool, waiting: () => number][] = [];
  readonly #waits: [name: string, of: { readonly waits: Waits }][] = [];

  /** @param merchant whose they are, where a process has several: it has figures of its own then */
  constructor(
    streams: { readonly count: number },
    replicas: Replicas | null,
    merchant: string | null = null,
  ) {
    if (replicas) this.#watchReplicas(replicas);
    const gauge = { registers: [this.registry] };
    if (merchant === null) collectProcessMetrics(this.registry);
    else this.registry.setDefaultLabels({ merchant });
    // So that rates begin with the first
    for (const outcome of webhookOutcomes) this.#webhooks.inc({ outcome }, 0);
    this.#watchPools();
    this.#watchWaits();
    new Gauge({
      ...{ ...gauge, name: "service_streams", help: "Open streams of server-sent events." },
      collect() {
        this.set(streams.count);
      },
    });
  }

  /** Shows connections of a pool. @param waiting how many requests wait for one elsewhere than in the pool */
  watchPool(name: string, pool: Pool, waiting: () => number = () => 0): void {
    this.#pools.push([name, pool, waiting]);
  }

  /** Shows how long requests wait for their turn. */
  watchWaits(name: string, of: { readonly waits: Waits }): void {
    this.#waits.push([name, of]);
  }

  /** Shows what waits in the database. */
  watchBacklog(read: ReadBacklog): void {
    watchBacklog(this.registry, read);
  }

  /** Counts an attempt to send a webhook. */
  readonly countWebhook = (outcome: string): void => this.#webhooks.inc({ outcome });

  /** Counts what was deleted because of its age. */
  readonly countPruned = (what: string, rows: number): void => this.#pruned.inc({ what }, rows);

  /** Counts a request that has been answered. */
  count(answered: Answered): void {
    this.#figures.count(answered);
  }

  #counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** A counter of what is counted elsewhere. */
  #sums(name: string, help: string, label: string, read: () => Iterable<[string, number]>): void {
    new Counter({
      ...{ name, help, labelNames: [label], registers: [this.registry] },
      collect() {
        this.reset();
        for (const [value, count] of read()) this.inc({ [label]: value }, count);
      },
    });
  }

  #watchPools(): void {
    const pools = this.#pools;
    new Gauge({
      name: "service_connections",
      help: "Connections to Postgres, by what they are for and what they do; and what waits for one (wanted).",
      labelNames: ["pool", "state"],
      registers: [this.registry],
      collect() {
        for (const [name, pool, waiting] of pools) {
          this.set({ pool: name, state: "busy" }, pool.totalCount - pool.idleCount);
          this.set({ pool: name, state: "idle" }, pool.idleCount);
          this.set({ pool: name, state: "wanted" }, pool.waitingCount + waiting());
          this.set({ pool: name, state: "most" }, pool.options.max);
        }
      },
    });
  }

  #watchWaits(): void {
    const all = this.#waits;
    const sums = (read: (waits: Waits) => number) => () =>
      all.map(([name, { waits }]): [string, number] => [name, read(waits)]);
    this.#sums(
      "service_waits_total",
      "Requests that had to wait for their turn: on the event loop, for a connection, or as a costly one.",
      "for",
      sums(({ count }) => count),
    );
    this.#sums(
      "service_wait_seconds_total",
      "How long these have waited.",
      "for",
      sums(({ ms }) => ms / 1_000),
    );
    new Gauge({
      ...{
        name: "service_waiting",
        help: "How many wait now.",
        labelNames: ["for"],
        registers: [this.registry],
      },
      collect() {
        for (const [name, { waits }] of all) this.set({ for: name }, waits.waiting);
      },
    });
  }

  /** Shows how far behind replicas are, and where reads were answered. */
  #watchReplicas({ all, counts }: Replicas): void {
    new Gauge({
      name: "service_replica_lag_seconds",
      help: "How far a replica is behind the primary. -1 when nothing is read from it.",
      labelNames: ["replica"],
      registers: [this.registry],
      // Of several processes
      aggregator: "max",
      collect() {
        for (const { name, lagMs, obstacle } of all)
          this.set({ replica: name }, obstacle === null ? lagMs / 1_000 : -1);
      },
    });
    const help =
      "Reads by one SQL statement: answered by a replica, or by the primary because the replica was behind (the client had just written), none was there, it failed, or only the primary can answer (fresh).";
    this.#sums("service_replica_reads_total", help, "from", () => Object.entries(counts));
  }
}
