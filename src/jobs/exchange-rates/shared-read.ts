import { readText } from "./read.ts";

/** Milliseconds for which what was read is used again. */
const holdsMs = 15 * 60_000;

/** Reads a source of rates once for all merchants of a process: its publisher needn't send it to each of them. */
export function sharedReading(now: () => number = Date.now): typeof readText {
  const known = new Map<string, { text: Promise<string>; at: number }>();
  return (from) => {
    const found = known.get(from);
    if (found && now() - found.at < holdsMs) return found.text;
    // Nobody stops it: others may wait for it
    const text = readText(from);
    text.catch(() => known.delete(from));
    known.set(from, { text, at: now() });
    return text;
  };
}
