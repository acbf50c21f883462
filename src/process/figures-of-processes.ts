import type { Worker } from "node:cluster";
import { once } from "node:events";
import type { Logger } from "pino";
import { AggregatorRegistry } from "prom-client";
import type { MetricObject } from "prom-client";

/** The answer of a process to the order of that name. */
export interface FiguresMessage {
  /** Null when it can't tell them. */
  figures: MetricObject[] | null;
}

/** Milliseconds in which a process tells its figures, up to two seconds of which it waits for the database; Prometheus waits for ten seconds. */
const figuresMs = 3_500;

/** The figures of several processes, as sums. prom-client's `clusterMetrics` waits for those, too, that are only starting. */
export class FiguresOfProcesses {
  readonly #logger: Logger;
  readonly #ask: (worker: Worker) => void;
  /** What each has told last. */
  readonly #told = new WeakMap<Worker, MetricObject[]>();

  /** @param ask gives a process the order to tell them */
  constructor(logger: Logger, ask: (worker: Worker) => void) {
    this.#logger = logger;
    this.#ask = ask;
  }

  /** Keeps what a process has told at its start, in case it doesn't answer when it is asked for the first time. */
  begin(worker: Worker, figures: MetricObject[]): void {
    this.#told.set(worker, figures);
  }

  async sum(workers: readonly Worker[]): Promise<string> {
    const all = await Promise.all(workers.map((worker) => this.#of(worker)));
    return AggregatorRegistry.aggregate(all).metrics();
  }

  /** Those of one that doesn't answer are its last ones: sums that shrink would look like a restart. */
  async #of(worker: Worker): Promise<MetricObject[]> {
    const figures = await this.#askFor(worker).catch(() => null);
    if (figures === null) {
      this.#logger.warn({ pid: worker.process.pid }, "a process doesn't tell its figures");
      return this.#told.get(worker) ?? [];
    }
    this.#told.set(worker, figures);
    return figures;
  }

  /** What a process has counted; nothing when it ends meanwhile, null when it can't tell. */
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
