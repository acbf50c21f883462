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

/** Calls back once when the process is asked to end; a second signal ends it at once. */
export function onStopSignal(stop: () => Promise<void>): void {
  let isStopping = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(1);
      isStopping = true;
      say("\nStopping");
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          say(String(error));
          process.exit(1);
        },
      );
    });
  }
}
