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
import type { FiguresMessage, Order, WorkerAnswer, WorkerStart } from "./worker-messages.ts";

/** Milliseconds before a dead process is replaced. */
const replaceDelayMs = 500;
/** Milliseconds beyond its time to stop after which a process is killed. */
const killDelayMs = 500;
/** Milliseconds for the figures of a process, which waits up to two seconds for the database; Prometheus waits for ten. */
const figuresMs = 3_500;
/** That of the file of positions in each process, behind those of its terminal and of messages. */
const positionsDescriptor = 4;
/** Share of the time to stop within which the processes begin to stop, one after the other. */
const shareOfTurns = 1 / 3;

export interface WorkerProcessesOptions {
  count: number;
  /** The program of each, see `runWorker`, and its options. */
  program: URL;
  options: { settings: Settings };
  logger: Logger;
  /** The user as whom they run; null for that of this process. */
  identity: Identity | null;
}

/**
 * Serves with several processes that share a port. A process that dies is replaced.
 *
 * @throws {UserError} when the first can't serve
 */
export async function startWorkerProcesses(options: WorkerProcessesOptions) {
  const { count, program, identity } = options;
  const hasReplicas = options.options.settings.readDatabaseUrls !== undefined;
  // Two columns for each place
  const positions = hasReplicas ? makePositionsFile(2 * count) : null;
  cluster.setupPrimary({
    exec: fileURLToPath(program),
    args: [],
    // The file has no name, so they are given what is open here
    ...(positions !== null && { stdio: ["inherit", "inherit", "inherit", "ipc", positions] }),
    ...identity,
  });
  const workers = new Workers(options, hasReplicas);
  const stop = async (withinMs?: number) => {
    await workers.stop(withinMs);
    if (positions !== null) closeSync(positions);
  };
  try {
    // The first opens the port, so that only one reports if that is impossible
    const port = await workers.start(0);
    await Promise.all(Array.from({ length: count - 1 }, (_, i) => workers.startBeside(i + 1)));
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

/** A process has ended before it could say anything, as one that is killed. */
class EndedAtStart extends UserError {}

/** The processes, each in its own place. */
class Workers {
  readonly #options: WorkerProcessesOptions;
  /** All that have not ended, including those that are stopping. */
  readonly #running = new Set<Worker>();
  /** The serving process of each place. */
  readonly #serving = new Map<number, Worker>();
  /** Which column of its place the latest process that served there has, or had. */
  readonly #sides = new Map<number, 0 | 1>();
  /** The last figures of each. */
  readonly #figures = new WeakMap<Worker, MetricObject[]>();
  /** The process that is being replaced: it has its successor already. */
  #replaced: Worker | null = null;
  #replacement: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();
  readonly #hasReplicas: boolean;

  constructor(options: WorkerProcessesOptions, hasReplicas: boolean) {
    this.#options = options;
    this.#hasReplicas = hasReplicas;
  }

  /** Starts a process in a place. Returns the port when it serves. */
  async start(place: number): Promise<number> {
    // One that has died leaves its column to its successor; one that is being replaced still writes there
    const latest = this.#sides.get(place) ?? 0;
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
        return logger.error({ code, signal }, "a process has died; the one to replace it is starting");
      logger.error({ code, signal }, "a process has died; starting another");
      void this.#keepStarting(place);
    });
    const { options, count } = this.#options;
    const column = { descriptor: positionsDescriptor, column: 2 * place + side, columns: 2 * count };
    send(worker, { options, isBackground: place === 0, positions: this.#hasReplicas ? column : null });
    const [answer] = (await Promise.race([
      once(worker, "message"),
      once(worker, "exit").then(() => [null]),
    ])) as [WorkerAnswer | null];
    if (answer === null) throw new EndedAtStart("A process ended while it started.");
    if (answer.failure !== undefined) throw new UserError(answer.failure);
    this.#figures.set(worker, answer.figures);
    this.#serving.set(place, worker);
    this.#sides.set(place, side);
    return answer.port;
  }

  /** Starts a process beside one that serves. One that is killed meanwhile is replaced, as later. */
  async startBeside(place: number): Promise<void> {
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

  /** The figures of all, as sums. prom-client's `clusterMetrics` also waits for processes that are only starting. */
  async metrics(): Promise<string> {
    const all = await Promise.all(Array.from(this.#serving.values(), (worker) => this.#figuresOf(worker)));
    return AggregatorRegistry.aggregate(all).metrics();
  }

  /** The figures of a process; its last ones if it doesn't answer, because sums that shrink would look like a restart. */
  async #figuresOf(worker: Worker): Promise<MetricObject[]> {
    const signal = AbortSignal.timeout(figuresMs);
    send(worker, { order: "figures" });
    const answer = once(worker, "message", { signal }).then(([said]) => (said as FiguresMessage).figures);
    const end = once(worker, "exit", { signal }).then(() => []);
    const figures = await Promise.race([answer, end]).catch(() => null);
    if (figures !== null) this.#figures.set(worker, figures);
    else this.#options.logger.warn({ pid: worker.process.pid }, "a process doesn't tell its figures");
    return this.#figures.get(worker) ?? [];
  }

  announceStop(): void {
    for (const worker of this.#running) send(worker, { order: "announce stop" });
  }

  /** Stops them one after the other, so that the remaining ones take new requests. */
  async stop(withinMs = defaultStopMs): Promise<void> {
    this.#stopping.abort();
    const deadline = performance.now() + withinMs;
    const turnMs = (withinMs * shareOfTurns) / this.#options.count;
    const ends: Promise<void>[] = [];
    for (const worker of [...this.#running]) {
      const end = leave(worker, deadline - performance.now());
      ends.push(end);
      await Promise.race([end, sleep(turnMs, undefined, { ref: false })]);
    }
    await Promise.all(ends);
  }

  /** Replaces each by a new process, one after the other. No request is refused. A call during that begins after it. */
  replace(): Promise<void> {
    return (this.#replacement = this.#replacement.then(() => this.#replaceAll()));
  }

  async #replaceAll(): Promise<void> {
    const { count, logger } = this.#options;
    for (let place = 0; place < count && !this.#stopping.signal.aborted; place++) {
      const old = this.#serving.get(place);
      if (!old) continue; // A new one is being started already
      this.#replaced = old;
      const column = 2 * place + (this.#sides.get(place) ?? 0);
      try {
        await this.start(place);
        if (this.#stopping.signal.aborted) return;
        await leave(old, defaultStopMs);
        // Nobody else would find out what the one before didn't know: all reads would go to the primary for good
        const successor = this.#serving.get(place);
        if (successor && this.#hasReplicas) send(successor, { order: "take over", column });
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        logger.error({ err: error }, "a new process can't start; the old ones continue");
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
async function leave(worker: Worker, withinMs: number): Promise<void> {
  if (worker.isDead()) return;
  const ended = once(worker, "exit");
  send(worker, { order: "stop", withinMs });
  const timer = setTimeout(() => worker.process.kill("SIGKILL"), withinMs + killDelayMs);
  await ended;
  clearTimeout(timer);
}

function send(worker: Worker, message: Order | WorkerStart<unknown>): void {
  // One that dies at this moment is noticed by its end; without the function, the failure would end this process
  if (worker.isConnected()) worker.send(message, () => {});
}
