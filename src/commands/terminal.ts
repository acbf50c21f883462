import { UserError } from "../user-error.ts";

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

/**
 * Runs what begins and then goes on until the process is asked to end, which may be while it still begins.
 *
 * Further signals change nothing: npm passes Ctrl-C on to a process that the terminal has already told, and all that
 * stops has its own time limit.
 *
 * @param begin gives what stops it again; its signal is aborted when it need not go on beginning
 */
export async function untilStopped(
  begin: (stopping: AbortSignal) => Promise<() => Promise<void>>,
): Promise<void> {
  const stopping = new AbortController();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) return;
      say("\nStopping");
      stopping.abort();
      ask();
    });
  }
  try {
    const stop = await begin(stopping.signal);
    await asked;
    await stop();
  } catch (error) {
    if (!stopping.signal.aborted || error !== stopping.signal.reason) throw error;
  }
  // Whatever is still open has nothing left to do.
  process.exit(0);
}
