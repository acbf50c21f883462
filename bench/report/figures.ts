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

/** Compares the requests per second with LIMIT's for the same query and connections. */
export function speedShare(cell: Cell, cells: readonly Cell[]): number {
  const speeds = ({ rounds }: Cell) => rounds.map((round) => round.perSecond);
  const base = cells.find(
    ({ contestant, query, connections }) =>
      contestant === "limit" && query === cell.query && connections === cell.connections,
  );
  return base ? ratio(speeds(cell), speeds(base)) : NaN;
}
