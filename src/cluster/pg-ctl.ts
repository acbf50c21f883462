import { UserError } from "../errors/user-error.ts";
import { isServerRunning } from "./pid-file.ts";

/** Quotes a text as one word for a shell. */
const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const ordinarySettings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "256MB",
  max_connections: "200",
  jit: "off",
};

interface ServerOptions {
  /** Runs pg_ctl. */
  control: (...args: string[]) => Promise<unknown>;
  data: string;
  log: string;
  flags: Record<string, string>;
}

/** Returns functions that start and stop the server of a cluster. */
export function createServerControl({ control, data, log, flags }: ServerOptions) {
  return {
    async start(port: number): Promise<void> {
      const settings = { ...ordinarySettings, ...flags, port: String(port) };
      const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${quoteForShell(value)}`);
      try {
        await control("start", "-w", "-t", "60", "-l", log, "-o", options.join(" "));
      } catch (error) {
        // After a crash, replaying the write-ahead log may take longer
        if (await isServerRunning(data)) return;
        throw new UserError(`Postgres did not start. Its log ${log} says why.`, { cause: error });
      }
    },
    async stop(): Promise<void> {
      try {
        await control("stop", "-m", "fast", "-w", "-t", "30");
      } catch (cause) {
        // It may have ended meanwhile
        if (await isServerRunning(data))
          throw new UserError(`Postgres did not stop. Its log ${log} says why.`, { cause });
      }
    },
  };
}
