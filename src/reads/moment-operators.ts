import { sql } from "postgraphile/pg-sql2";
import type { Operator } from "./operator.ts";

/** Returns the beginning of a moment's second. */
export const beginOfSecond = (moment: string): string => moment.replace(/\.\d+Z$/, ".000Z");

/** Returns the beginning of the next second; infinity after the last second that we accept. */
function nextSecond(moment: string): string {
  const next = new Date(Date.parse(beginOfSecond(moment)) + 1_000);
  return next.getUTCFullYear() > 9999 ? "infinity" : next.toISOString();
}

/** Returns the first whole second that isn't before a moment. */
const secondFrom = (moment: string): string =>
  beginOfSecond(moment) === moment ? moment : nextSecond(moment);

/** Returns a comparison with bounds. It compares the column itself, so that indexes can be used. */
const comparison = (
  description: string,
  boundsOf: (moment: string) => string[],
  condition: Operator["condition"],
): Operator => ({
  operand: "value",
  description,
  parameters: (moment, codec) =>
    boundsOf(moment as string).map((bound) => ({ value: codec.toPg(bound), type: codec.sqlType })),
  condition,
});

/**
 * Comparisons of moments by the second, which is the precision that clients see: a moment that they read finds its rows.
 */
export const momentOperators = {
  equals: comparison(
    "Exactly this value.",
    (moment) => [secondFrom(moment), nextSecond(moment)],
    (column, [from, to]) => sql`(${column} >= ${from!} and ${column} < ${to!})`,
  ),
  before: comparison(
    "Earlier than this moment.",
    (moment) => [secondFrom(moment)],
    (column, [bound]) => sql`${column} < ${bound!}`,
  ),
  after: comparison(
    "Later than this moment.",
    (moment) => [nextSecond(moment)],
    (column, [bound]) => sql`${column} >= ${bound!}`,
  ),
};
