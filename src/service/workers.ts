import cluster from "node:cluster";
import type { Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { AggregatorRegistry } from "prom-client";
import type { Settings } from "../settings.ts";
import type { Figures } from "../metrics/serve-metrics.ts";
import { UserError } from "../user-error.ts";

/** What a process is told at its start. Later the message "stop" tells it to stop. */
export interface ToWorker {
  databaseUrl: string;
  settings: Settings;
  /** Whether it does background work: the first one does. */
  isBackground: boolean;
}

/** What it answers once. */
export type FromWorker = { port: number; failure?: never } | { failure: string };

/** Milliseconds before a process that has died is replaced, and that one may take to stop. */
const replacing = 500;
const patience = 10_000;

export interface WorkersOptions {
  count: number;
  databaseUrl: string;
  settings: Settings;
  logger: Logger;
}

/**
 * Serves with several processes that share a port. One that dies is replaced.
 *
 * @throws {UserError} when the first can't serve
 */
export async function startWorkers({ count, databaseUrl, settings, logger }: WorkersOptions) {
  cluster.setupPrimary({
    exec: fileURLToPath(new URL("worker-process.ts", import.meta.url)),
    args: [],
  });
  const running = new Set<Worker>();
  let isStopping = false;

  const start = async (index: number): Promise<number> => {
    const worker = cluster.fork();
    running.add(worker);
    worker.once("exit", (code, signal) => {
      running.delete(worker);
      if (isStopping || !wasServing.has(worker)) return;
      logger.error({ code, signal }, "a process has died; starting another");
      void keepStarting(index);
    });
    worker.send({ databaseUrl, settings, isBackground: index === 0 } satisfies ToWorker);
    const [answer] = (await Promise.race([
      once(worker, "message"),
      once(worker, "exit").then(() => [{ failure: "A process ended while it started." }]),
    ])) as [FromWorker];
    if (answer.failure !== undefined) throw new UserError(answer.failure);
    wasServing.add(worker);
    return answer.port;
  };

  const keepStarting = async (index: number): Promise<void> => {
    while (!isStopping) {
      await sleep(replacing);
      try {
        await start(index);
        return;
      } catch (error) {
        logger.error({ err: error }, "a process can't start; trying again");
      }
    }
  };

  const stop = async (): Promise<void> => {
    isStopping = true;
    const ends = [...running].map(async (worker) => {
      const ended = once(worker, "exit");
      if (worker.isConnected()) worker.send("stop");
      const timer = setTimeout(() => worker.process.kill("SIGKILL"), patience);
      await ended;
      clearTimeout(timer);
    });
    await Promise.all(ends);
  };

  try {
    // The first takes the port, so that only one complains when it can't be had
    const port = await start(0);
    await Promise.all(Array.from({ length: count - 1 }, (_, i) => start(i + 1)));
    const all = new AggregatorRegistry();
    const figures: Figures = { contentType: all.contentType, metrics: () => all.clusterMetrics() };
    return { port, figures, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Those that have begun to serve. */
const wasServing = new WeakSet<Worker>();
