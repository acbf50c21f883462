import type {
  PgCodecWithAttributes,
  PgResource,
  PgSelectQueryBuilder,
  PgSelectStep,
} from "postgraphile/@dataplan/pg";
import { TYPES } from "postgraphile/@dataplan/pg";
import type { Step } from "postgraphile/grafast";
import { lambda } from "postgraphile/grafast";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { Position } from "../../src/graphql/cursor.ts";
import { openRanges } from "../../src/graphql/cursor.ts";
import { readPlace } from "../../src/graphql/key-forms.ts";
import type { StageSql } from "../../src/reads/followed.ts";
import { given, notYetGiven } from "../../src/reads/followed.ts";
import { comparable, parameterType, rowOf } from "../../src/reads/keys.ts";
import type { End, Order } from "../../src/reads/orders.ts";
import { between, placeTextOf } from "../../src/reads/orders.ts";
import type { PagedList, PageRequest } from "../../src/reads/page-request.ts";

export type View = PgResource<string, PgCodecWithAttributes>;
/** The library's step for rows of a view. */
export type RowsStep = PgSelectStep<View>;

/** Changes a query of rows before it is run. */
export type Condition = (rows: PgSelectQueryBuilder) => void;

/** The place in a cursor as parameters. */
function placeSql({ columns }: Order, key: string): (SQL | null)[] {
  return readPlace(columns, key)!.map((value, part) =>
    value === null ? null : sql`${sql.value(value)}::${parameterType(columns[part]!)}`,
  );
}

const endAt = (order: Order, position: Position | null, isIncluded: boolean): End | null =>
  position && { place: placeSql(order, position.at(-1)!.key), isIncluded };

/** The condition of rows after the one of a cursor, or before it, in a followed list. */
function besideFollowed(
  { key, followed }: PagedList,
  { order, after }: PageRequest,
  side: typeof given | typeof notYetGiven,
  alias: SQL,
): SQL {
  const stages = after!.map((stage) => ({
    key: rowOf(placeSql(order, stage.key) as SQL[]),
    open: stage.open === "" ? null : sql`${sql.value(openRanges(stage.open))}::int8multirange`,
  }));
  return side({ alias, key, followed }, stages as [StageSql, ...StageSql[]]);
}

/** Leaves of a list what is between the cursors, or before or after that. */
export const keep =
  (list: PagedList, range: "page" | "preceding" | "following") =>
  (page: PageRequest): Condition =>
  (rows) => {
    const { order, after, before } = page;
    const isFollowed = after !== null && order.isDefault && list.followed !== undefined;
    const where = (condition: SQL) => rows.where(sql.parens(condition));
    if (isFollowed && range !== "following")
      where(besideFollowed(list, page, range === "page" ? notYetGiven : given, rows.alias));
    const from = range === "page" && !isFollowed ? endAt(order, after, false) : null;
    const start = range === "following" ? endAt(order, before, true) : from;
    const to = range === "page" ? endAt(order, before, false) : null;
    const end = range === "preceding" && !isFollowed ? endAt(order, after, true) : to;
    const parts = between(order, rows.alias, start, end).filter((part) => part !== null);
    if (parts.length > 0)
      where(
        sql.join(
          parts.map((part) => sql.parens(part)),
          " or ",
        ),
      );
  };

/** Makes the page stay between its cursors. Clones of mode "aggregate", which look beside the page, ignore that. */
export const stayWithin =
  (list: PagedList) =>
  (page: PageRequest): Condition =>
  (rows) => {
    if (rows.mode !== "aggregate") keep(list, "page")(page)(rows);
  };

/** Orders rows as the page asks for. */
export const orderRows =
  ({ order }: PageRequest): Condition =>
  (rows) => {
    for (const column of order.columns) {
      const nulls = column.isNullable ? ({ nulls: order.isDescending ? "FIRST" : "LAST" } as const) : {};
      rows.orderBy({
        ...{ fragment: comparable(column, rows.alias), codec: TYPES.text, ...nulls },
        direction: order.isDescending ? "DESC" : "ASC",
      });
    }
  };

/** The text of a row's place in the order that was asked for. */
export function placeOf($rows: RowsStep, { orders }: PagedList, $page: Step<PageRequest>): SQL {
  const $name = lambda($page, ({ order }) => order.name);
  const cases = [...orders!.values()]
    .filter(({ isDefault }) => !isDefault)
    .map((order) => sql`when ${sql.literal(order.name)} then ${placeTextOf(order, $rows.alias)}`);
  return sql`case ${$rows.placeholder($name, TYPES.text)} ${sql.join(cases, " ")} end`;
}
