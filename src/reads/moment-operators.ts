import { sql } from "postgraphile/pg-sql2";
import type { Operator } from "./operator.ts";

/** The beginning of a moment's second. */
export const beginOfSecond = (moment: string): string => moment.replace(/\.\d+Z$/, ".000Z");

/** The second after that of a moment; after all there are, if it is the last one that we take. */
function nextSecond(moment: string): string {
  const next = new Date(Date.parse(beginOfSecond(moment)) + 1_000);
  return next.getUTCFullYear() > 9999 ? "infinity" : next.toISOString();
}

/** The first second that isn't before a moment. */
const secondFrom = (moment: string): string =>
  beginOfSecond(moment) === moment ? moment : nextSecond(moment);

/** A comparison with bounds. The column itself is compared, so that indexes find it. */
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
 * Comparisons of moments as they are shown, to the second: what a client has read and sends back means the same rows.
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
