import type { Contestant } from "../contestants/contestant.ts";
import type { Cell } from "../measure/rounds.ts";
import type { Options } from "../options.ts";
import type { Machine } from "./machine.ts";

/** Everything that a run side by side found out. */
export interface SideBySide {
  options: Options;
  scale: number;
  contestants: readonly Contestant[];
  cells: readonly Cell[];
  /** What each query is, by its name. */
  titles: Readonly<Record<string, string>>;
  /** What went wrong. */
  notes: readonly string[];
  machine: Machine;
  minutes: number;
}
