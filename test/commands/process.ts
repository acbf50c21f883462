import { execFile, fork, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { until } from "../lib/until.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A command of the project in a child process. */
export interface CommandProcess {
  pid: number;
  /** Its output so far, standard output and error together, in whole lines. Those of one may come before the other's. */
  output(): string;
  /** Waits until it has written something; fails when it ends before, or after two minutes. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** Its exit code once it has ended; null when a signal ended it. */
  ended: Promise<number | null>;
}

const ofProject =
  /^(NODE_(?!COMPILE_CACHE$)|HOST$|PORT$|PUBLIC_URL$|METRICS_|TRUST_PROXY$|LIMIT_|RATE_|MIGRATION_|[A-Z]+_TIMEOUT$|DATABASE_|READ_|DATA_|TOKEN_|SECRETS_|RUN_AS$|EXPLORER$|WORKER_|WEBHOOK_|CARRIER_|BULK_|BACKUP_|EXCHANGE_|LOG_|STOP_|TEST_|PG)/;

/** With more room for young objects than in the scripts: a start then hardly has to collect garbage, a sixth of its time. */
const nodeOptions = [
  "--no-concurrent-sparkplug",
  ...["--min-semi-space-size=64", "--max-semi-space-size=64"],
];

/** The settings that have a service know `unstable` alone, as most tests need no more. */
export const headAlone = {
  NODE_OPTIONS: `--import ${new URL("../lib/head-alone.ts", import.meta.url).href}`,
};

/** Or all versions. */
export const allVersions = { NODE_OPTIONS: "" };

const program = "src/commands/erp.ts";

/**
 * Starts a command.
 *
 * @param command the arguments of `erp`
 * @param settings environment variables; it gets no other settings
 * @param folder folder of the project
 */
export function startCommand(
  command: string[],
  settings: Record<string, string> = {},
  folder = root,
): CommandProcess {
  const environment = Object.entries(process.env).filter(([name]) => !ofProject.test(name));
  const child = spawn(process.execPath, [...nodeOptions, join(folder, program), ...command], {
    cwd: folder,
    // An empty value hides the same setting in a developer's .env
    env: {
      ...Object.fromEntries(environment),
      HOST: "127.0.0.1",
      PORT: "0",
      DATABASE_URL: "",
      EXCHANGE_RATES_FROM: "",
      // The demonstration shop has subscribers on the internet
      WEBHOOK_CONCURRENCY: "0",
      LOG_LEVEL: "error",
      ...(command[0] === "start" && folder === root && headAlone),
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) readLines(stream, (lines) => (output += lines));
  let hasEnded = false;
  const ended = once(child, "close").then(([code]) => {
    hasEnded = true;
    return code as number | null;
  });
  return {
    pid: child.pid!,
    output: () => output,
    ended,
    kill: (signal) => void child.kill(signal),
    async said(pattern) {
      await until(() => hasEnded || pattern.test(output), 120_000).catch(() => {});
      const match = pattern.exec(output);
      if (!match) throw new Error(`It never said ${pattern}, but: ${output}`);
      return match;
    },
  };
}

/** Passes on whole lines, because parts of two streams may come in turn, and a character in two parts. */
function readLines(stream: Readable, onLines: (lines: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    const text = rest + chunk;
    const end = text.lastIndexOf("\n") + 1;
    rest = text.slice(end);
    onLines(text.slice(0, end));
  });
  stream.on("end", () => onLines(rest));
}

/** Runs a command to its end. */
export async function runCommand(command: string[], settings?: Record<string, string>, folder = root) {
  const process = startCommand(command, settings, folder);
  const code = await process.ended;
  return { code, output: process.output() };
}

/** A folder for a test's data that every user may enter, because Postgres may run as another one. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), "service-test-"));
  await chmod(path, 0o755);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Result of a command. */
export interface CommandResult {
  exitCode: unknown;
  stdout: string;
  stderr: string;
}

/**
 * Runs a command on a database to its end, and keeps its two outputs apart.
 *
 * @param command the arguments of `erp`
 * @param input its standard input
 * @param settings environment variables beside those of this process
 */
export function runOn(
  databaseUrl: string,
  command: string[],
  input = "",
  settings: Record<string, string> = {},
): Promise<CommandResult> {
  const env = { ...process.env, ...settings, DATABASE_URL: databaseUrl };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [...nodeOptions, join(root, program), ...command],
      { env },
      (error, stdout, stderr) => resolve({ exitCode: error ? error.code : 0, stdout, stderr }),
    );
    // It may have ended without reading
    child.stdin!.on("error", () => {}).end(input);
  });
}

/** Arguments of a command, and environment variables beside those of the others. */
export interface CommandLine {
  args: readonly string[];
  settings?: Record<string, string>;
}

/**
 * A process that runs commands on a database, one after the other, each as if it was run alone. Most need no process of
 * their own: {@link runOn} shows of one of them that it ends by itself.
 */
export class Commands {
  readonly #child: ChildProcess;
  readonly #died: Promise<never>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(databaseUrl: string) {
    const env = { ...process.env, DATABASE_URL: databaseUrl };
    this.#child = fork(new URL("one-after-another.ts", import.meta.url), { execArgv: nodeOptions, env });
    this.#died = once(this.#child, "exit").then(() => Promise.reject(new Error("The process has ended.")));
    this.#died.catch(() => {});
  }

  /** Runs a command when those before have ended. */
  run(line: CommandLine): Promise<CommandResult> {
    const result = this.#last.then(() => this.#ask(line));
    this.#last = result;
    return result;
  }

  async #ask(line: CommandLine): Promise<CommandResult> {
    this.#child.send(line);
    const [result] = (await Promise.race([once(this.#child, "message"), this.#died])) as [CommandResult];
    return result;
  }

  async close(): Promise<void> {
    if (!this.#child.connected) return;
    this.#child.disconnect();
    await once(this.#child, "exit");
  }
}

/** Runs a command with several lists of arguments in such a process. */
export async function runAllOn(
  databaseUrl: string,
  command: string,
  lines: readonly CommandLine[],
): Promise<CommandResult[]> {
  const commands = new Commands(databaseUrl);
  try {
    return await Promise.all(lines.map((line) => commands.run({ ...line, args: [command, ...line.args] })));
  } finally {
    await commands.close();
  }
}
