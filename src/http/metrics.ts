import type { Pool } from "pg";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Replicas } from "../database/replicas/replicas.ts";
import { readCounts } from "../reads/counts.ts";
import { eventStream } from "./http-server.ts";
import type { Middleware } from "./pipeline.ts";

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
}

/** Metrics of a process, for Prometheus. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = new Counter({
    name: "service_requests_total",
    help: "Requests to the GraphQL endpoint, by version and status of the answer.",
    labelNames: ["version", "status"],
    registers: [this.registry],
  });
  readonly #durations = new Histogram({
    name: "service_request_duration_seconds",
    help: "From the arrival of a GraphQL request to the end of its answer.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers: [this.registry],
  });
  readonly #points = new Counter({
    name: "service_points_total",
    help: "What operations have cost, in points.",
    registers: [this.registry],
  });

  readonly #webhooks = new Counter({
    name: "service_webhook_attempts_total",
    help: "Attempts to send a webhook, by result: delivered, failed, gone; or withheld, costly or unpaid, when nothing was sent.",
    labelNames: ["outcome"],
    registers: [this.registry],
  });

  readonly #pruned = new Counter({
    name: "service_pruned_rows_total",
    help: "Rows that background work has deleted because of their age, by what they were.",
    labelNames: ["what"],
    registers: [this.registry],
  });

  /** @param merchant whose they are, where a process has several: it has figures of its own then */
  constructor(
    pool: Pool,
    streams: { readonly count: number },
    replicas: Replicas | null,
    merchant: string | null = null,
  ) {
    if (replicas) this.#watchReplicas(replicas);
    if (merchant === null) collectProcessMetrics(this.registry);
    else this.registry.setDefaultLabels({ merchant });
    new Gauge({
      name: "service_connections",
      help: "Connections to Postgres that answer requests, by what they do; and requests that wait for one.",
      labelNames: ["state"],
      registers: [this.registry],
      collect() {
        this.set({ state: "busy" }, pool.totalCount - pool.idleCount);
        this.set({ state: "idle" }, pool.idleCount);
        this.set({ state: "wanted" }, pool.waitingCount);
      },
    });
    new Gauge({
      name: "service_streams",
      help: "Open streams of server-sent events.",
      registers: [this.registry],
      collect() {
        this.set(streams.count);
      },
    });
  }

  /** Shows how far behind replicas are, and where reads were answered. */
  #watchReplicas({ all, counts }: Replicas): void {
    const registers = [this.registry];
    new Gauge({
      name: "service_replica_lag_seconds",
      help: "How far a replica is behind the primary. -1 when nothing is read from it.",
      labelNames: ["replica"],
      registers,
      collect() {
        for (const { name, lagMs, obstacle } of all)
          this.set({ replica: name }, obstacle === null ? lagMs / 1_000 : -1);
      },
    });
    new Counter({
      name: "service_replica_reads_total",
      help: "Reads by one SQL statement: answered by a replica, or by the primary because the replica was behind (the client had just written), none was there, it failed, or only the primary can answer (fresh).",
      labelNames: ["from"],
      registers,
      collect() {
        this.reset();
        for (const [from, count] of Object.entries(counts)) this.inc({ from }, count);
      },
    });
  }

  /** Counts an attempt to send a webhook. */
  readonly countWebhook = (outcome: string): void => this.#webhooks.inc({ outcome });

  /** Counts what was deleted because of its age. */
  readonly countPruned = (what: string, rows: number): void => this.#pruned.inc({ what }, rows);

  /** Counts a request when it has been answered. */
  readonly count: Middleware = (_request, response, next) => {
    const end = this.#durations.startTimer();
    response.once("close", () => {
      // A stream lasts as long as its client wants
      if (response.getHeader("content-type") !== eventStream) end();
      const { version, operation } = response.locals;
      // Versions that don't exist would make an unlimited number of labels
      this.#requests.inc({ version: version?.slug ?? "none", status: response.statusCode });
      if (operation) this.#points.inc(operation.cost.requested);
    });
    next();
  };
}
