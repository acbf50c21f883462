import { setFlagsFromString } from "node:v8";
import { Piscina } from "piscina";

/** Milliseconds after which a thread without work ends, and gives its memory back. */
const idleTimeout = 60_000;
/** A lower priority than the event loop's, if the system supports that for threads. */
const niceIncrement = 5;
/** Megabytes of a thread's heap. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 24 };

export interface ThreadsOptions {
  /** The module whose functions the threads run. */
  program: URL;
  /** The name of its function, if there is one for all work. */
  name?: string;
  /** Most threads at a time. */
  max?: number;
  stackSizeMb?: number;
}

/**
 * Threads for work that would hold the event loop. They start when they are needed, and end when they have had nothing to
 * do for a minute.
 */
export function openThreads({
  program,
  name,
  max = 1,
  stackSizeMb,
}: ThreadsOptions): Piscina<unknown, unknown> {
  // V8 would give each thread the young generation that `npm start` gives the event loop, 100 MB, whatever its limits are
  for (const end of ["min", "max"]) setFlagsFromString(`--${end}-semi-space-size=0`);
  const threads = new Piscina<unknown, unknown>({
    filename: program.href,
    ...(name !== undefined && { name }),
    minThreads: 0,
    maxThreads: max,
    idleTimeout,
    niceIncrement,
    resourceLimits: { ...resourceLimits, ...(stackSizeMb !== undefined && { stackSizeMb }) },
  });
  // The caller whose work crashes a thread gets the error
  threads.on("error", () => {});
  return threads;
}
