import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { NamedRows, StageSql } from "./followed.ts";
import { buildReturnedCondition, buildUnreturnedCondition } from "./followed.ts";
import type { End, Order, Place } from "./orders.ts";
import { buildRangeConditions } from "./orders.ts";

/** Parts of a list: all, between the cursors, up to `after`, from `before`, all after `after`, all before `before`. */
export type Range = "all" | "page" | "preceding" | "following" | "afterStart" | "beforeEnd";

/** Functions that return the cursors of a page in SQL. Each call adds parameters to the statement, so only needed ones are called. */
export interface Cursors {
  after: { place(): Place; stages(): [StageSql, ...StageSql[]] } | null;
  before: { place(): Place } | null;
}

/**
 * Returns the conditions of the rows of a part of a list. If there are several, the part consists of their rows in this order;
 * each can use an index. A condition is null if every row meets it.
 */
export function buildPartConditions(
  range: Range,
  order: Order,
  rows: NamedRows,
  { after, before }: Cursors,
): (SQL | null)[] {
  const begins = after !== null && (range === "page" || range === "afterStart");
  const ends = before !== null && (range === "page" || range === "beforeEnd");
  const precedes = range === "preceding" && after !== null;
  if (!begins && !ends && !precedes && !(range === "following" && before)) return [null];
  const isLate = rows.followed !== undefined && order.isDefault && (begins || precedes);
  const late = isLate
    ? (begins ? buildUnreturnedCondition : buildReturnedCondition)(rows, after.stages())
    : null;
  const end = (cursor: Cursors["before"], isIncluded: boolean): End | null =>
    cursor && { place: cursor.place(), isIncluded };
  const from = range === "following" ? end(before, true) : begins && !late ? end(after, false) : null;
  const to = precedes && !late ? end(after, true) : ends ? end(before, false) : null;
  return buildRangeConditions(order, rows.alias, from, to).map((condition) =>
    sql.join(
      [late, condition].filter((one) => one !== null),
      " and ",
    ),
  );
}
