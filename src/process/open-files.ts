import { readFile } from "node:fs/promises";
import type { Logger } from "pino";

/** Files that a process needs beside the connections of its clients: to Postgres, to receivers of webhooks, and real ones. */
const others = 256;

/**
 * How many connections of clients a process can have: beyond its limit of open files, the system cuts them off, and says
 * so to nobody.
 *
 * @param wanted the setting
 */
export async function connectionsWithinFiles(wanted: number, logger: Logger): Promise<number> {
  // Node raises the first limit to the second. Only Linux shows them
  const limits = await readFile("/proc/self/limits", "utf8").catch(() => "");
  const [, files = "unlimited"] = /^Max open files +\d+ +(\S+)/m.exec(limits) ?? [];
  const possible = files === "unlimited" ? Infinity : Math.max(8, Number(files) - others);
  if (possible >= wanted) return wanted;
  logger.warn(
    { connections: possible, files: Number(files) },
    `The process may open ${files} files, too few for LIMIT_CONNECTIONS=${wanted}. Raise the limit (LimitNOFILE of systemd, ulimit -n)`,
  );
  return possible;
}
