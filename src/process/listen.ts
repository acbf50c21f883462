import { readFile } from "node:fs/promises";
import type { RequestListener, Server } from "node:http";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createBoundedServer } from "../http/bounded-server.ts";
import { HttpServer } from "../http/http-server.ts";
import type { Readiness } from "../lib/readiness.ts";
import { settlesWithin } from "../lib/within.ts";
import { defaultStopMs } from "./worker-messages.ts";
import type { Settings } from "./settings.ts";

/** Milliseconds of a stop that are reserved for closing the connections to Postgres, after the last response. */
export const closingMs = 1_500;

/** File descriptors that a process needs besides its clients: for Postgres, webhook receivers and files. */
const reservedFiles = 256;

/** A running process: it responds to requests and, by default, does background work. */
export interface Serving {
  /** The port on which it listens. */
  port: number;
  /** Its metrics. */
  figures: Registry;
  /** Makes the readiness endpoint report that this process is about to stop. It continues to serve. */
  announceStop(): void;
  /** Takes over a column of the positions file from a process that has ended, if there is such a file. */
  takeOver?(column: number): void;
  /**
   * Finishes running requests, then stops. Work that takes too long is cancelled.
   *
   * @param withinMs time limit in milliseconds
   */
  stop(withinMs?: number): Promise<void>;
}

export interface ListenOptions {
  settings: Pick<Settings, "host" | "port" | "maxConnections">;
  logger: Logger;
  listener: RequestListener;
  readiness: Readiness;
  figures: Registry;
  /** Starts background work, once the port is open. */
  begin: () => { stop(): Promise<void> }[];
  /** Cancels the statements of requests that take too long to stop. */
  cancelStatements?: () => void;
  /** Closes everything else at the end. */
  closing: AsyncDisposableStack;
}

/**
 * Serves until it is stopped.
 *
 * @throws {UserError} when the port is taken
 */
export async function listen(options: ListenOptions): Promise<Serving> {
  const { settings, logger, listener, readiness, figures, begin, cancelStatements, closing } = options;
  let isStopping = false;
  readiness.add("process", () => (isStopping ? stopping : null));
  const server = new HttpServer(await createServerWithinLimits(listener, settings, logger));
  await server.listen(settings);
  let background: ReturnType<typeof begin>;
  try {
    background = begin();
  } catch (error) {
    await server.stop(performance.now());
    throw error;
  }
  return {
    port: server.port,
    figures,
    announceStop: () => void (isStopping = true),
    async stop(withinMs = defaultStopMs) {
      const deadline = performance.now() + withinMs;
      isStopping = true;
      await Promise.all([
        server.stop(deadline - closingMs, cancelStatements),
        ...background.map((work) => settlesWithin(withinMs - closingMs, work.stop())),
      ]);
      // Closing could wait for a database that doesn't respond
      await settlesWithin(Math.max(0, deadline - performance.now()), closing.disposeAsync());
    },
  };
}

/** The reason why a process that is about to stop isn't ready. */
const stopping = { code: "STOPPING", message: "This process is about to stop." };

/**
 * Creates a server whose number of connections is limited by the settings and by the process's limit of open files.
 * Beyond that limit the operating system drops connections silently.
 */
export async function createServerWithinLimits(
  listener: RequestListener,
  { maxConnections: wanted }: Pick<Settings, "maxConnections">,
  logger: Pick<Logger, "warn">,
): Promise<Server> {
  // Node raises the soft limit to the hard one. Only Linux has this file
  const limits = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const [, files = "unlimited"] = /^Max open files +\d+ +(\S+)/m.exec(limits) ?? [];
  const possible = files === "unlimited" ? Infinity : Math.max(8, Number(files) - reservedFiles);
  if (possible >= wanted) return createBoundedServer(listener, wanted);
  logger.warn(
    { connections: possible, files: Number(files) },
    `The process may open ${files} files, too few for LIMIT_CONNECTIONS=${wanted}. Raise the limit (LimitNOFILE of systemd, ulimit -n)`,
  );
  return createBoundedServer(listener, possible);
}
