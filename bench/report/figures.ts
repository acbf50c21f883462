import type { Cell, Round } from "../measure/rounds.ts";
import { median, ratio } from "../measure/statistics.ts";

/** Computes the median of a figure over the rounds. */
export function medianFigure(cell: Cell, figure: (round: Round) => number | null): number {
  return median(cell.rounds.map(figure).filter((value) => value !== null));
}

/** Prints the requests per second. */
export function perSecond(cell: Cell): string {
  return Math.round(medianFigure(cell, (round) => round.perSecond)).toLocaleString("en-GB");
}

/** A figure to compare contestants by; more is better. */
type Merit = (round: Round) => number;

const speed: Merit = (round) => round.perSecond;
/** Requests per second of processor time, of Node and Postgres together. */
const efficiency: Merit = (round) => 1000 / (round.nodeCpu + (round.postgresCpu ?? 0));

/** Compares the speed with LIMIT's for the same query and connections. */
export const speedShare = (cell: Cell, cells: readonly Cell[]): number => compared(cell, cells, speed);

/** Compares the processor time per request with LIMIT's. Other work on the machine disturbs it less. */
export const efficiencyShare = (cell: Cell, cells: readonly Cell[]): number =>
  compared(cell, cells, efficiency);

function compared(cell: Cell, cells: readonly Cell[], merit: Merit): number {
  const base = cells.find(
    ({ contestant, query, connections }) =>
      contestant === "limit" && query === cell.query && connections === cell.connections,
  );
  return base ? ratio(cell.rounds.map(merit), base.rounds.map(merit)) : NaN;
}
