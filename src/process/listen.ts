import { readFile } from "node:fs/promises";
import type { RequestListener, Server } from "node:http";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { boundedServer } from "../http/bounded-server.ts";
import { HttpServer } from "../http/http-server.ts";
import type { Readiness } from "../lib/readiness.ts";
import { within } from "../lib/within.ts";
import { defaultStopMs } from "./worker-messages.ts";
import type { Settings } from "./settings.ts";

/** Part of the time for a stop, for closing the connections to Postgres after all requests have been answered. */
export const closingMs = 1_500;

/** Files that a process needs beside the connections of its clients: to Postgres, to receivers of webhooks, and real ones. */
const otherFiles = 256;

/** The work of one process: it answers requests and, by default, works in the background. */
export interface Serving {
  /** The address on which it listens. */
  port: number;
  /** Its metrics. */
  figures: Registry;
  /** Makes the readiness report that this process is about to stop. It continues to serve. */
  announceStop(): void;
  /** Takes over what an ended process has left in its column of the file of positions, where there is one. */
  takeOver?(column: number): void;
  /**
   * Answers running requests, then stops. Work that takes too long is cancelled.
   *
   * @param withinMs milliseconds for all of it
   */
  stop(withinMs?: number): Promise<void>;
}

export interface ListenOptions {
  settings: Pick<Settings, "host" | "port" | "maxConnections">;
  logger: Logger;
  listener: RequestListener;
  readiness: Readiness;
  figures: Registry;
  /** Begins background work, when the port is open. */
  begin: () => { stop(): Promise<void> }[];
  /** Cancels statements of requests, when the time for them is over. */
  cancelStatements?: () => void;
  /** Closes the rest, at the end. */
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
  const server = new HttpServer(await boundedByFiles(listener, settings, logger));
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
        ...background.map((work) => within(withinMs - closingMs, work.stop())),
      ]);
      // A silent database could delay it
      await within(Math.max(0, deadline - performance.now()), closing.disposeAsync());
    },
  };
}

/** Why a process that is about to stop isn't ready. */
const stopping = { code: "STOPPING", message: "This process is about to stop." };

/**
 * Makes a server with as many connections as the settings allow, and as the process can open: beyond its limit of open
 * files, the system cuts connections off, and says so to nobody.
 */
export async function boundedByFiles(
  listener: RequestListener,
  { maxConnections: wanted }: Pick<Settings, "maxConnections">,
  logger: Pick<Logger, "warn">,
): Promise<Server> {
  // Node raises the first limit to the second. Only Linux shows them
  const limits = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const [, files = "unlimited"] = /^Max open files +\d+ +(\S+)/m.exec(limits) ?? [];
  const possible = files === "unlimited" ? Infinity : Math.max(8, Number(files) - otherFiles);
  if (possible >= wanted) return boundedServer(listener, wanted);
  logger.warn(
    { connections: possible, files: Number(files) },
    `The process may open ${files} files, too few for LIMIT_CONNECTIONS=${wanted}. Raise the limit (LimitNOFILE of systemd, ulimit -n)`,
  );
  return boundedServer(listener, possible);
}
