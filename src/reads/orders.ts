import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { defaultOrder } from "../graphql/cursor.ts";
import type { Key, KeyColumn } from "./keys.ts";
import { buildComparable, buildKeyPartText, buildRowValue } from "./keys.ts";

/** A column that a list is sorted by. */
export interface OrderColumn extends KeyColumn {
  /** Only the first column can be nullable; null is greater than all values. */
  isNullable?: boolean;
}

/** An indexed sort order of the rows of a view, in one direction. Its last columns are the key, which breaks ties. */
export interface Order {
  /** Its enum value, which is also in its cursors. */
  name: string;
  columns: readonly [OrderColumn, ...OrderColumn[]];
  isDescending: boolean;
  /** Whether it is the order of the key, which lists have by default. */
  isDefault: boolean;
}

/** The sort orders of a view, by name. */
export type Orders = ReadonlyMap<string, Order>;

/** Returns the default order of lists. */
export const createKeyOrder = (key: Key): Order => ({
  name: defaultOrder,
  columns: key,
  isDescending: false,
  isDefault: true,
});

/** SQL of the text for null, as in key-forms.ts. */
const nullSql = sql`'%'`;

/** Returns SQL of the text of a row's place in an order, which is part of its cursor. */
export function buildPlaceText({ columns }: Order, rows: SQL): SQL {
  const texts = columns.map(({ name, typeName, isNullable }) => {
    const text = buildKeyPartText(typeName, sql`${rows}.${sql.identifier(name)}`);
    return isNullable ? sql`coalesce(${text},${nullSql})` : text;
  });
  return texts.length === 1 ? texts[0]! : sql.parens(sql.join(texts, "||'/'||"));
}

/** Returns the terms of `order by`, each with its direction. */
export const buildOrderTerms = (order: Order, rows: SQL, isReversed: boolean): SQL[] =>
  order.columns.map((column) => {
    const part = buildComparable(column, rows);
    return order.isDescending === isReversed ? part : sql`${part} desc`;
  });

/** The values of a place in an order, as SQL; null for a column that is null. */
export type Place = readonly (SQL | null)[];

/** An end of a range of rows. */
export interface End {
  place: Place;
  /** Whether the row at the place belongs to the range. */
  isIncluded: boolean;
}

/**
 * Returns the conditions of the rows between two places, in a form that can use an index. Each row in between meets exactly
 * one of them.
 *
 * There is a second condition only for rows with null in the first column. They come last, and a row comparison would not
 * find them.
 *
 * @param from the beginning of the range in the order of the list; null for the beginning of the list
 * @returns a condition is null if every row meets it
 */
export function buildRangeConditions(
  order: Order,
  rows: SQL,
  from: End | null,
  to: End | null,
): (SQL | null)[] {
  const [low, high] = order.isDescending ? [to, from] : [from, to];
  const { columns } = order;
  if (!columns[0].isNullable || (!low && !high))
    return [joinWithAnd(buildBoundConditions(columns, rows, low, high))];
  const first = buildComparable(columns[0], rows);
  const isNull = (end: End | null) => end !== null && end.place[0] === null;
  const withoutFirst = (end: End | null) =>
    end && isNull(end) ? { ...end, place: end.place.slice(1) } : null;
  const buildNullCondition = (high: End | null) =>
    joinWithAnd([
      sql`${first} is null`,
      ...buildBoundConditions(columns.slice(1), rows, withoutFirst(low), withoutFirst(high)),
    ]);
  // No row is after a null and before a value; the condition still uses all values, because the statement has them as parameters
  if (isNull(low) && high && !isNull(high))
    return [
      sql.join([buildNullCondition(null)!, ...buildBoundConditions(columns, rows, null, high)], " and "),
    ];
  const branches: (SQL | null)[] = [];
  if (!isNull(low)) {
    const conditions = buildBoundConditions(columns, rows, low, isNull(high) ? null : high);
    branches.push(joinWithAnd(conditions.length > 0 ? conditions : [sql`${first} is not null`]));
  }
  if (!high || isNull(high)) branches.push(buildNullCondition(high));
  return order.isDescending ? branches.reverse() : branches;
}

function buildBoundConditions(
  columns: readonly OrderColumn[],
  rows: SQL,
  low: End | null,
  high: End | null,
): SQL[] {
  const row = buildRowValue(columns.map((column) => buildComparable(column, rows)));
  const conditions: SQL[] = [];
  if (low)
    conditions.push(sql`${row} ${low.isIncluded ? sql`>=` : sql`>`} ${buildRowValue(low.place as SQL[])}`);
  if (high)
    conditions.push(sql`${row} ${high.isIncluded ? sql`<=` : sql`<`} ${buildRowValue(high.place as SQL[])}`);
  return conditions;
}

const joinWithAnd = (conditions: readonly SQL[]): SQL | null =>
  conditions.length === 0 ? null : sql.join(conditions, " and ");
