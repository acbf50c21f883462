import { readFile } from "node:fs/promises";
import type { RequestListener, Server } from "node:http";
import type { Logger } from "pino";
import { boundedServer } from "../http/bounded-server.ts";
import type { Settings } from "./settings.ts";

/** Files that a process needs beside the connections of its clients: to Postgres, to receivers of webhooks, and real ones. */
const others = 256;

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
  const possible = files === "unlimited" ? Infinity : Math.max(8, Number(files) - others);
  if (possible >= wanted) return boundedServer(listener, wanted);
  logger.warn(
    { connections: possible, files: Number(files) },
    `The process may open ${files} files, too few for LIMIT_CONNECTIONS=${wanted}. Raise the limit (LimitNOFILE of systemd, ulimit -n)`,
  );
  return boundedServer(listener, possible);
}
