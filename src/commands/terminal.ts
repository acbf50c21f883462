import { UserError } from "../errors/user-error.ts";

/** Writes a line for the person at the terminal. Standard output is left to results. */
export function say(text = ""): void {
  process.stderr.write(`${text}\n`);
}

/** Runs a command until it ends; says in plain words what the person at the terminal can mend. */
export async function atTheTerminal(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}

/** What goes on until it is stopped. */
export interface Running {
  /** @param signal what the process was sent; null when it stops for another reason */
  stop(signal: NodeJS.Signals | null): Promise<void>;
  /** What SIGHUP does, unless it is the terminal that ends; without it, SIGHUP stops. */
  reload?: (() => void) | undefined;
  /** Rejected with a {@link UserError} when it can't go on. */
  failed?: Promise<never> | undefined;
}

/**
 * Runs what begins and then goes on until the process is asked to end, which may be while it still begins.
 *
 * Further signals change nothing: npm passes Ctrl-C on to a process that the terminal has already told, and all that
 * stops has its own time limit.
 *
 * @param begin its signal is aborted when it need not go on beginning
 * @throws {UserError} when it can't go on; everything has been stopped then
 */
export async function untilStopped(begin: (stopping: AbortSignal) => Promise<Running>): Promise<void> {
  const stopping = new AbortController();
  const { promise: asked, resolve: ask } = Promise.withResolvers<NodeJS.Signals>();
  let running: Running | undefined;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) return;
      // At a terminal, the signal says that the terminal is gone
      if (signal === "SIGHUP" && running?.reload && !process.stdin.isTTY && !process.stderr.isTTY)
        return running.reload();
      say("\nStopping");
      stopping.abort();
      ask(signal);
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
  // Whatever is still open has nothing left to do.
  process.exit(0);
}
