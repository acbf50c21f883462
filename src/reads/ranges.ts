import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { NamedRows, StageSql } from "./followed.ts";
import { given, notYetGiven } from "./followed.ts";
import type { End, Order, Place } from "./orders.ts";
import { between } from "./orders.ts";

/** Parts of a list: all of it, what is between its cursors, what comes before or after that, or one of both ends. */
export type Range = "all" | "page" | "preceding" | "following" | "afterStart" | "beforeEnd";

/** The cursors of a page in SQL, made only when they are needed: statements have their values as parameters. */
export interface Cursors {
  after: { place(): Place; stages(): [StageSql, ...StageSql[]] } | null;
  before: { place(): Place } | null;
}

/**
 * The conditions of the rows of a part of a list. Several together are the part, in this order: each can be read by an
 * index. A condition is null where every row meets it.
 */
export function conditionsOf(
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
  const late = isLate ? (begins ? notYetGiven : given)(rows, after.stages()) : null;
  const end = (cursor: Cursors["before"], isIncluded: boolean): End | null =>
    cursor && { place: cursor.place(), isIncluded };
  const from = range === "following" ? end(before, true) : begins && !late ? end(after, false) : null;
  const to = precedes && !late ? end(after, true) : ends ? end(before, false) : null;
  return between(order, rows.alias, from, to).map((condition) =>
    sql.join(
      [late, condition].filter((one) => one !== null),
      " and ",
    ),
  );
}
