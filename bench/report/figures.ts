import type { Cell, Round } from "../measure/rounds.ts";
import { median, ratio } from "../measure/statistics.ts";

/** The median of a figure over the rounds. */
export function over(cell: Cell, figure: (round: Round) => number | null): number {
  return median(cell.rounds.map(figure).filter((value) => value !== null));
}

/** Requests per second, in words. */
export function perSecond(cell: Cell): string {
  return Math.round(over(cell, (round) => round.perSecond)).toLocaleString("en-GB");
}

/** How a cell compares with the one of LIMIT for the same query and connections. */
export function shareOf(cell: Cell, cells: readonly Cell[], base = "limit"): number {
  const other = cells.find(
    ({ contestant, query, connections }) =>
      contestant === base && query === cell.query && connections === cell.connections,
  );
  const rates = ({ rounds }: Cell) => rounds.map((round) => round.perSecond);
  return other ? ratio(rates(cell), rates(other)) : NaN;
}
