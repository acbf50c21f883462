import cluster from "node:cluster";
import type { Worker } from "node:cluster";
import { once } from "node:events";
import { closeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { AggregatorRegistry } from "prom-client";
import type { MetricObject } from "prom-client";
import type { Identity } from "../cluster/postgres-user.ts";
import { makePositionsFile } from "../replicas/positions.ts";
import { UserError } from "../errors/user-error.ts";
import { pause, retry } from "../lib/retry.ts";
import type { Settings } from "./settings.ts";
import { defaultStopMs } from "./worker-messages.ts";
import type { MetricsMessage, WorkerOrder, WorkerResponse, WorkerStart } from "./worker-messages.ts";

/** Milliseconds before a dead process is replaced. */
const replaceDelayMs = 500;
/** Milliseconds beyond its time to stop after which a process is killed. */
const killDelayMs = 500;
/** Milliseconds for the metrics of a process, which waits up to two seconds for the database. Prometheus waits for ten. */
const metricsTimeoutMs = 3_500;
/** The file descriptor of the positions file in each process, after the descriptors of the terminal and of messages. */
const positionsDescriptor = 4;
/** Share of the time for a stop within which all processes begin to stop, one after the other. */
const staggerShare = 1 / 3;

export interface WorkerProcessesOptions {
  count: number;
  /** The program of each process, which calls `runWorker`, and its options. */
  program: URL;
  options: { settings: Settings };
  logger: Logger;
  /** The user who runs them; null for the user of this process. */
  identity: Identity | null;
}

/**
 * Serves with several worker processes that share a port. A process that dies is replaced.
 *
 * @throws {UserError} when the first process can't serve
 */
export async function startWorkerProcesses(options: WorkerProcessesOptions) {
  const { count, program, identity } = options;
  const hasReplicas = options.options.settings.readDatabaseUrls !== undefined;
  // Two columns for each place
  const positions = hasReplicas ? makePositionsFile(2 * count) : null;
  cluster.setupPrimary({
    exec: fileURLToPath(program),
    args: [],
    // The file has no name, so the processes inherit its descriptor
    ...(positions !== null && { stdio: ["inherit", "inherit", "inherit", "ipc", positions] }),
    ...identity,
  });
  const workers = new Workers(options, hasReplicas);
  const stop = async (withinMs?: number) => {
    await workers.stop(withinMs);
    if (positions !== null) closeSync(positions);
  };
  try {
    // The first process opens the port, so that only one error is reported if that fails
    const port = await workers.start(0);
    await Promise.all(Array.from({ length: count - 1 }, (_, i) => workers.startAdditional(i + 1)));
    return {
      port,
      figures: { contentType: AggregatorRegistry.PROMETHEUS_CONTENT_TYPE, metrics: () => workers.metrics() },
      announceStop: () => workers.announceStop(),
      stop,
      replace: () => workers.replace(),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A process ended before it sent its first message, for example because it was killed. */
class EndedAtStart extends UserError {}

/** The worker processes, each in its own place: a number from 0. */
class Workers {
  readonly #options: WorkerProcessesOptions;
  /** All processes that have not ended, including those that are stopping. */
  readonly #running = new Set<Worker>();
  /** The serving process of each place. */
  readonly #serving = new Map<number, Worker>();
  /** For each place, which of its two columns the latest serving process has, or had. */
  readonly #columnSides = new Map<number, 0 | 1>();
  /** The last known metrics of each process. */
  readonly #figures = new WeakMap<Worker, MetricObject[]>();
  /** The process that is being replaced: its successor is starting. */
  #replaced: Worker | null = null;
  #replacement: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();
  readonly #hasReplicas: boolean;

  constructor(options: WorkerProcessesOptions, hasReplicas: boolean) {
    this.#options = options;
    this.#hasReplicas = hasReplicas;
  }

  /** Starts a process in a place. Returns the port once it serves. */
  async start(place: number): Promise<number> {
    // The successor of a dead process gets its column. A process that is being replaced still writes to its own
    const latest = this.#columnSides.get(place) ?? 0;
    const side = this.#serving.has(place) ? ((1 - latest) as 0 | 1) : latest;
    const worker = cluster.fork();
    this.#running.add(worker);
    worker.once("exit", (code, signal) => {
      this.#running.delete(worker);
      if (this.#serving.get(place) !== worker) return;
      this.#serving.delete(place);
      if (this.#stopping.signal.aborted) return;
      const { logger } = this.#options;
      if (this.#replaced === worker)
        return logger.error({ code, signal }, "a process has died; its successor is already starting");
      logger.error({ code, signal }, "a process has died; starting another");
      void this.#keepStarting(place);
    });
    const { options, count } = this.#options;
    const column = { descriptor: positionsDescriptor, column: 2 * place + side, columns: 2 * count };
    send(worker, { options, isBackground: place === 0, positions: this.#hasReplicas ? column : null });
    const [answer] = (await Promise.race([
      once(worker, "message"),
      once(worker, "exit").then(() => [null]),
    ])) as [WorkerResponse | null];
    if (answer === null) throw new EndedAtStart("A process ended while it started.");
    if (answer.failure !== undefined) throw new UserError(answer.failure);
    this.#figures.set(worker, answer.figures);
    this.#serving.set(place, worker);
    this.#columnSides.set(place, side);
    return answer.port;
  }

  /** Starts a further process. If it is killed while it starts, another one is started, as later. */
  async startAdditional(place: number): Promise<void> {
    try {
      await this.start(place);
    } catch (error) {
      if (!(error instanceof EndedAtStart) || this.#stopping.signal.aborted) throw error;
      this.#options.logger.error("a process has died while it started; starting another");
      void this.#keepStarting(place);
    }
  }

  async #keepStarting(place: number): Promise<void> {
    const { signal } = this.#stopping;
    await pause(replaceDelayMs, signal);
    if (signal.aborted) return;
    await retry(() => this.start(place), {
      signal,
      pauseMs: (error) => {
        this.#options.logger.error({ err: error }, "a process can't start; trying again");
        return replaceDelayMs;
      },
    });
  }

  /** Returns the sums of all metrics. prom-client's `clusterMetrics` would also wait for processes that are starting. */
  async metrics(): Promise<string> {
    const all = await Promise.all(Array.from(this.#serving.values(), (worker) => this.#readMetrics(worker)));
    return AggregatorRegistry.aggregate(all).metrics();
  }

  /** Reads the metrics of a process; its last ones if it doesn't respond, because a smaller sum would look like a restart. */
  async #readMetrics(worker: Worker): Promise<MetricObject[]> {
    const signal = AbortSignal.timeout(metricsTimeoutMs);
    send(worker, { order: "figures" });
    const answer = once(worker, "message", { signal }).then(([said]) => (said as MetricsMessage).figures);
    const end = once(worker, "exit", { signal }).then(() => []);
    const figures = await Promise.race([answer, end]).catch(() => null);
    if (figures !== null) this.#figures.set(worker, figures);
    else this.#options.logger.warn({ pid: worker.process.pid }, "a process doesn't report its metrics");
    return this.#figures.get(worker) ?? [];
  }

  announceStop(): void {
    for (const worker of this.#running) send(worker, { order: "announce stop" });
  }

  /** Stops the processes one after the other, so that the remaining ones take new requests. */
  async stop(withinMs = defaultStopMs): Promise<void> {
    this.#stopping.abort();
    const deadline = performance.now() + withinMs;
    const staggerMs = (withinMs * staggerShare) / this.#options.count;
    const ends: Promise<void>[] = [];
    for (const worker of [...this.#running]) {
      const end = stopProcess(worker, deadline - performance.now());
      ends.push(end);
      await Promise.race([end, sleep(staggerMs, undefined, { ref: false })]);
    }
    await Promise.all(ends);
  }

  /** Replaces each process by a new one, one after the other, without refusing requests. Calls run one at a time. */
  replace(): Promise<void> {
    return (this.#replacement = this.#replacement.then(() => this.#replaceAll()));
  }

  async #replaceAll(): Promise<void> {
    const { count, logger } = this.#options;
    for (let place = 0; place < count && !this.#stopping.signal.aborted; place++) {
      const old = this.#serving.get(place);
      if (!old) continue; // A new process is being started already
      this.#replaced = old;
      const column = 2 * place + (this.#columnSides.get(place) ?? 0);
      try {
        await this.start(place);
        if (this.#stopping.signal.aborted) return;
        await stopProcess(old, defaultStopMs);
        // Otherwise positions that the old process couldn't determine would keep reads on the primary for good
        const successor = this.#serving.get(place);
        if (successor && this.#hasReplicas) send(successor, { order: "take over", column });
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        logger.error({ err: error }, "a new process can't start; the old processes continue");
        if (!this.#serving.has(place)) void this.#keepStarting(place);
        return;
      } finally {
        this.#replaced = null;
      }
    }
    if (!this.#stopping.signal.aborted) logger.info({ count }, "all processes have been replaced");
  }
}

/** Stops a process, and kills it when it takes too long. */
async function stopProcess(worker: Worker, withinMs: number): Promise<void> {
  if (worker.isDead()) return;
  const ended = once(worker, "exit");
  send(worker, { order: "stop", withinMs });
  const timer = setTimeout(() => worker.process.kill("SIGKILL"), withinMs + killDelayMs);
  await ended;
  clearTimeout(timer);
}

function send(worker: Worker, message: WorkerOrder | WorkerStart<unknown>): void {
  // A process that dies now is noticed by its exit event. Without the callback, the error would end this process
  if (worker.isConnected()) worker.send(message, () => {});
}
