import type { Contestant } from "../contestants/contestant.ts";
import type { Cell } from "../measure/rounds.ts";
import type { BenchOptions } from "../options.ts";
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
  minutes: number;
}
