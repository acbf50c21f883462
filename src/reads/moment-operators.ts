import { sql } from "postgraphile/pg-sql2";
import type { Operator } from "./operator.ts";

/** Returns the beginning of a moment's second. */
export const floorToSecond = (moment: string): string => moment.replace(/\.\d+Z$/, ".000Z");

/** Returns the beginning of the next second; infinity after the last second that we accept. */
function getNextSecond(moment: string): string {
  const next = new Date(Date.parse(floorToSecond(moment)) + 1_000);
  return next.getUTCFullYear() > 9999 ? "infinity" : next.toISOString();
}

/** Returns the first whole second that isn't before a moment. */
const ceilToSecond = (moment: string): string =>
  floorToSecond(moment) === moment ? moment : getNextSecond(moment);

/** Returns a comparison with bounds. It compares the column itself, so that indexes can be used. */
const createComparison = (
  description: string,
  getBounds: (moment: string) => string[],
  condition: Operator["condition"],
): Operator => ({
  operand: "value",
  description,
  parameters: (moment, codec) =>
    getBounds(moment as string).map((bound) => ({ value: codec.toPg(bound), type: codec.sqlType })),
  condition,
});

/**
 * Comparisons of moments by the second, which is the precision that clients see: a moment that they read finds its rows.
 */
export const momentOperators = {
  equals: createComparison(
    "Exactly this value.",
    (moment) => [ceilToSecond(moment), getNextSecond(moment)],
    (column, [from, to]) => sql`(${column} >= ${from!} and ${column} < ${to!})`,
  ),
  before: createComparison(
    "Earlier than this moment.",
    (moment) => [ceilToSecond(moment)],
    (column, [bound]) => sql`${column} < ${bound!}`,
  ),
  after: createComparison(
    "Later than this moment.",
    (moment) => [getNextSecond(moment)],
    (column, [bound]) => sql`${column} >= ${bound!}`,
  ),
};
