import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { defaultOrder } from "../graphql/cursor.ts";
import type { Key, KeyColumn } from "./keys.ts";
import { comparable, partTextOf, rowOf } from "./keys.ts";

/** A column that a list is ordered by. */
export interface OrderColumn extends KeyColumn {
  /** Only of the first: null is greater than all values. */
  isNullable?: boolean;
}

/** An order of the rows of a view that an index has, in both directions. Those of the key come last, and tell ties apart. */
export interface Order {
  /** The value of the enum that stands for it, which its cursors name. */
  name: string;
  columns: readonly [OrderColumn, ...OrderColumn[]];
  isDescending: boolean;
  /** Whether it is that of the key, which lists have unless another one is asked for. */
  isDefault: boolean;
}

/** The orders that a view offers, by name. */
export type Orders = ReadonlyMap<string, Order>;

/** The order of lists unless another one is asked for. */
export const orderOfKey = (key: Key): Order => ({
  name: defaultOrder,
  columns: key,
  isDescending: false,
  isDefault: true,
});

/** As key-forms.ts spells null. */
const nullSql = sql`'%'`;

/** The text of a row's place in an order: what cursors are made of. */
export function placeTextOf({ columns }: Order, rows: SQL): SQL {
  const texts = columns.map(({ name, typeName, isNullable }) => {
    const text = partTextOf(typeName, sql`${rows}.${sql.identifier(name)}`);
    return isNullable ? sql`coalesce(${text},${nullSql})` : text;
  });
  return texts.length === 1 ? texts[0]! : sql.parens(sql.join(texts, "||'/'||"));
}

/** What rows are ordered by, each part with its direction. */
export const orderParts = (order: Order, rows: SQL, isReversed: boolean): SQL[] =>
  order.columns.map((column) => {
    const part = comparable(column, rows);
    return order.isDescending === isReversed ? part : sql`${part} desc`;
  });

/** Values of a place in an order, as SQL; null for a column that is null. */
export type Place = readonly (SQL | null)[];

/** An end of a range of rows. */
export interface End {
  place: Place;
  /** Whether the row at the place belongs to the range. */
  isIncluded: boolean;
}

/**
 * The conditions of the rows between two places, as an index can answer them: of each row in between exactly one holds.
 *
 * There is a second one only for rows in whose first column there is null: these are the last, and a comparison of rows
 * would leave them out.
 *
 * @param from where the range begins in the order of the list; null at its beginning
 * @returns null for a condition that every row meets
 */
export function between(order: Order, rows: SQL, from: End | null, to: End | null): (SQL | null)[] {
  const [low, high] = order.isDescending ? [to, from] : [from, to];
  const { columns } = order;
  if (!columns[0].isNullable || (!low && !high)) return [all(compared(columns, rows, low, high))];
  const first = comparable(columns[0], rows);
  const isNull = (end: End | null) => end !== null && end.place[0] === null;
  const ofOthers = (end: End | null) => (end && isNull(end) ? { ...end, place: end.place.slice(1) } : null);
  const ofNulls = (high: End | null) =>
    all([sql`${first} is null`, ...compared(columns.slice(1), rows, ofOthers(low), ofOthers(high))]);
  // Nothing is after a null and before a value; the condition still has all the values that come with the statement
  if (isNull(low) && high && !isNull(high))
    return [sql.join([ofNulls(null)!, ...compared(columns, rows, null, high)], " and ")];
  const branches: (SQL | null)[] = [];
  if (!isNull(low)) {
    const conditions = compared(columns, rows, low, isNull(high) ? null : high);
    branches.push(all(conditions.length > 0 ? conditions : [sql`${first} is not null`]));
  }
  if (!high || isNull(high)) branches.push(ofNulls(high));
  return order.isDescending ? branches.reverse() : branches;
}

function compared(columns: readonly OrderColumn[], rows: SQL, low: End | null, high: End | null): SQL[] {
  const row = rowOf(columns.map((column) => comparable(column, rows)));
  const conditions: SQL[] = [];
  if (low) conditions.push(sql`${row} ${low.isIncluded ? sql`>=` : sql`>`} ${rowOf(low.place as SQL[])}`);
  if (high) conditions.push(sql`${row} ${high.isIncluded ? sql`<=` : sql`<`} ${rowOf(high.place as SQL[])}`);
  return conditions;
}

const all = (conditions: readonly SQL[]): SQL | null =>
  conditions.length === 0 ? null : sql.join(conditions, " and ");
