import type { Worker } from "node:cluster";
import { once } from "node:events";
import type { Logger } from "pino";
import { AggregatorRegistry } from "prom-client";
import type { MetricObject } from "prom-client";
import type { FiguresMessage } from "./worker-messages.ts";

/** Milliseconds for the figures of a process, which waits up to two seconds for the database; Prometheus waits for ten. */
const figuresMs = 3_500;

/** Figures of several processes, as sums. prom-client's `clusterMetrics` also waits for processes that are only starting. */
export class FiguresOfProcesses {
  readonly #logger: Logger;
  readonly #ask: (worker: Worker) => void;
  /** The last ones of each. */
  readonly #last = new WeakMap<Worker, MetricObject[]>();

  /** @param ask asks a process for them */
  constructor(logger: Logger, ask: (worker: Worker) => void) {
    this.#logger = logger;
    this.#ask = ask;
  }

  /** Keeps the figures of a process at its start, in case it doesn't answer when it is asked for the first time. */
  begin(worker: Worker, figures: MetricObject[]): void {
    this.#last.set(worker, figures);
  }

  async sum(workers: readonly Worker[]): Promise<string> {
    const all = await Promise.all(workers.map((worker) => this.#of(worker)));
    return AggregatorRegistry.aggregate(all).metrics();
  }

  /** The figures of a process; its last ones if it doesn't answer, because sums that shrink would look like a restart. */
  async #of(worker: Worker): Promise<MetricObject[]> {
    const figures = await this.#askFor(worker).catch(() => null);
    if (figures === null) {
      this.#logger.warn({ pid: worker.process.pid }, "a process doesn't tell its figures");
      return this.#last.get(worker) ?? [];
    }
    this.#last.set(worker, figures);
    return figures;
  }

  /** The present figures of a process: none when it ends meanwhile, null when it can't say them. */
  async #askFor(worker: Worker): Promise<MetricObject[] | null> {
    const signal = AbortSignal.timeout(figuresMs);
    this.#ask(worker);
    const answer = once(worker, "message", { signal }).then(
      ([message]) => (message as FiguresMessage).figures,
    );
    const end = once(worker, "exit", { signal }).then(() => []);
    return Promise.race([answer, end]);
  }
}
