import type { Contestant } from "../contestants/contestant.ts";
import type { Cell } from "../measure/rounds.ts";
import type { BenchOptions } from "../options.ts";
import type { EarlierRun } from "./both-runs.ts";
import type { Machine } from "./machine.ts";

/** All results of a run side by side. */
export interface SideBySide {
  options: BenchOptions;
  scale: number;
  contestants: readonly Contestant[];
  cells: readonly Cell[];
  /** Descriptions of the queries, by name. */
  titles: Readonly<Record<string, string>>;
  /** Errors. */
  notes: readonly string[];
  machine: Machine;
  /** The measured commit; null if the code was changed since. */
  commit: string | null;
  /** The earlier run that this one repeats. */
  earlier: EarlierRun | null;
  minutes: number;
}
