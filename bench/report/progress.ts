import type { Cell } from "../measure/rounds.ts";
import { perSecond, speedShare } from "./figures.ts";

/** Prints a match as one line: requests per second, and each contestant's share of LIMIT. */
export function matchLine(cells: readonly Cell[]): string {
  const parts = cells.map((cell) => {
    // Without LIMIT there is no share
    const share = speedShare(cell, cells);
    const shown = Number.isNaN(share) ? "" : ` ×${share.toFixed(2)}`;
    const failures = cell.rounds.reduce((sum, round) => sum + round.failures, 0);
    return `${cell.contestant} ${perSecond(cell)}/s${shown}${failures ? ` (${failures} WRONG)` : ""}`;
  });
  const [{ query, connections } = { query: "", connections: 0 }] = cells;
  return `${query} at ${String(connections).padStart(2)}: ${parts.join(", ")}`;
}
