import { median } from "../measure/statistics.ts";
import type { BenchOptions } from "../options.ts";
import type { Machine } from "./machine.ts";
import { machineInWords } from "./machine.ts";
import { table } from "./table.ts";

/** The result of saving a file once. Times are in milliseconds. */
export interface Save {
  /** Time until the first response of the changed API. */
  ms: number;
  /** Longest wait of a request for other data, in any served version. */
  others: number;
  /** Longest wait of a request for the data that were being changed. */
  same: number;
  /** Other requests that failed. */
  failures: number;
}

export interface Watched {
  saves: readonly Save[];
  machine: Machine;
  options: BenchOptions;
}

export function watchFiles({ saves, machine, options }: Watched): Record<string, string> {
  const row = (name: string, of: (save: Save) => number) => {
    const values = saves.map(of);
    return [name, `${Math.round(median(values))}`, `${Math.round(Math.max(...values))}`];
  };
  const text = [
    "# Saving a migration",
    `Written by \`npm run bench -- --watch\`: ${machineInWords(machine)}. ${saves.length} saves of a file in \`db/current\` that
adds a column to the products of the head, while \`npx erp db watch\` serves three versions on its own Postgres with demonstration
data, and four clients ask for something else every few milliseconds. The first save comes ten seconds after the start, when the
database is made on which saves are tried first; before that, requests to the locked table waited 360 to 420 ms.`,
    table(
      ["in ms", "median", "worst"],
      [
        row("from the save to the first answer with the new field", ({ ms }) => ms),
        row("longest wait of a request meanwhile", ({ others }) => others),
        row("the same for products of a frozen version, whose table is locked", ({ same }) => same),
      ],
    ),
    `Requests that failed meanwhile: ${saves.reduce((sum, { failures }) => sum + failures, 0)}.`,
  ].join("\n\n");
  return { [options.quick ? "quick-watch.md" : "watch.md"]: text };
}
