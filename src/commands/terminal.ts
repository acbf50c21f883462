import { styleText } from "node:util";
import { UserError } from "../errors/user-error.ts";

// These files were programs themselves, which units and timers of earlier versions may still start: to do nothing, and say that
// it went well, would be worse than to fail
if (/\/src\/commands\/(?!erp\.ts$)[\w-]+\.ts$/.test(process.argv[1] ?? "")) {
  process.stderr.write("This command is `node bin/erp.js …` now: see `node bin/erp.js --help`.\n");
  process.exit(2);
}

/** Writes a line for the person at the terminal. Standard output is reserved for results. */
export function say(text = ""): void {
  process.stderr.write(`${text}\n`);
}

type Format = Parameters<typeof styleText>[0];

/** Colours a text, if the terminal shows colours and nobody has set NO_COLOR. */
export const paint = (format: Format, text: string): string =>
  styleText(format, text, { stream: process.stderr });

/** Whether {@link paint} colours. */
export const hasColors = (): boolean => paint("red", "x") !== "x";

/** The result of a command, for programs and for people. */
export interface Result {
  json: unknown;
  text: string;
}

/** Writes the result of a command to standard output. */
export const print = ({ json, text }: Result, isJson = false): void =>
  void process.stdout.write(`${isJson ? JSON.stringify(json) : text}\n`);

/** A row as JSON has it: `created_at` for `createdAt`. */
export const toSnakeCase = (row: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value as unknown,
    ]),
  );

/**
 * Lines of columns that are as wide as their longest cell.
 *
 * @param isNumber whether a column has numbers, which end at the same place
 */
export function table(
  rows: readonly (readonly string[])[],
  isNumber: (column: number) => boolean = () => false,
): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const cell = (text: string, column: number) =>
    isNumber(column) ? text.padStart(widths[column]!) : text.padEnd(widths[column]!);
  return rows.map((row) => row.map(cell).join("  ").trimEnd()).join("\n");
}

/** Invalid arguments. */
export class UsageError extends UserError {}

/** The value of JSON that a person has written. @throws {UserError} with what is said when it is none */
export function parseJson(text: string, complaint: string, Refusal = UserError): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Refusal(complaint, { cause });
  }
}

/**
 * Runs a command until it ends; explains errors that the person at the terminal can solve.
 *
 * @param usage printed before what is wrong with the arguments
 */
export async function atTheTerminal(command: () => Promise<void>, usage = ""): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const isUsage = error instanceof UsageError;
    say(isUsage && usage !== "" ? `${usage.trimEnd()}\n\n${error.message}` : error.message);
    process.exitCode = isUsage ? 2 : 1;
  }
}

/** Something that runs until it is stopped. */
export interface Running {
  /** @param signal the signal that the process got; null when it stops for another reason */
  stop(signal: NodeJS.Signals | null): Promise<void>;
  /** Handles SIGHUP, unless the terminal has closed; by default, SIGHUP stops the program. */
  reload?: (() => void) | undefined;
  /** Rejected with a {@link UserError} when it can't continue. */
  failed?: Promise<never> | undefined;
}

/**
 * Starts something that runs until the process is asked to end, perhaps during the start.
 *
 * Further signals change nothing: npm passes Ctrl-C on to a process that already got it from the terminal, and
 * everything that stops has its own time limit.
 *
 * @param begin its signal is aborted when the start should end
 * @throws {UserError} when it can't continue; everything has been stopped by then
 */
export async function untilStopped(begin: (stopping: AbortSignal) => Promise<Running>): Promise<void> {
  const stopping = new AbortController();
  const { promise: asked, resolve: ask } = Promise.withResolvers<NodeJS.Signals>();
  let running: Running | undefined;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted) return;
    say("\nStopping");
    stopping.abort();
    ask(signal);
  };
  whenNpmEnds(() => stop("SIGTERM"));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      // At a terminal, the signal means that the terminal was closed
      if (signal === "SIGHUP" && running?.reload && !process.stdin.isTTY && !process.stderr.isTTY)
        return stopping.signal.aborted ? undefined : running.reload();
      stop(signal);
    });
  }
  try {
    running = await begin(stopping.signal);
    let signal: NodeJS.Signals | null = null;
    try {
      signal = await Promise.race([asked, ...(running.failed ? [running.failed] : [])]);
    } finally {
      await running.stop(signal);
    }
  } catch (error) {
    if (error instanceof UserError) {
      say(error.message);
      process.exit(1);
    }
    if (!stopping.signal.aborted || error !== stopping.signal.reason) throw error;
  }
  // Anything that is still open has no more work.
  process.exit(0);
}

/** Milliseconds between two looks for the parent. */
const lookForParentMs = 250;

/** npm hands a signal on to its shell only, and some shells don't: then this process gets another parent. */
function whenNpmEnds(stop: () => void): void {
  if (!/\berp\b/.test(process.env.npm_lifecycle_script ?? "")) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop(), lookForParentMs).unref();
}
