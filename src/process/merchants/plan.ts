import { lastTimeOf } from "../../jobs/chores.ts";
import type { Chore } from "../../jobs/chores.ts";
import { kinds } from "./due.ts";
import type { Due, Kind } from "./due.ts";

/** Milliseconds within which chores are begun that were due before the start. */
const defaultSpreadMs = 1_800_000;

/**
 * In how many milliseconds there is work of each kind.
 *
 * @param since when this process was started. In milliseconds since 1970.
 */
export function plan(
  { inMs, choresAt }: Due,
  chores: readonly Chore[],
  { since, spreadMs = defaultSpreadMs }: { since: number; spreadMs?: number | undefined },
): [Kind, number][] {
  const inMsOfChores = chores.map((chore) => {
    const last = lastTimeOf(chore);
    const doneAt = choresAt[chore.name] ?? (chore.isForNew ? 0 : lastTimeOf(chore, since));
    const lateAt = Math.max(last, since + chore.place * spreadMs);
    return (doneAt >= last ? last + chore.everyMs : lateAt) - Date.now();
  });
  const all = { ...inMs, jobs: Math.min(inMs.jobs, ...inMsOfChores) };
  return kinds.map((kind) => [kind, all[kind]]);
}
