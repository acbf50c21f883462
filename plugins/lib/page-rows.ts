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
import { openRanges } from "../../src/graphql/cursor.ts";
import { readPlace } from "../../src/graphql/key-forms.ts";
import type { StageSql } from "../../src/reads/followed.ts";
import { comparable, parameterType, rowOf } from "../../src/reads/keys.ts";
import type { Order } from "../../src/reads/orders.ts";
import { placeTextOf } from "../../src/reads/orders.ts";
import type { PagedList, PageRequest } from "../../src/reads/page-request.ts";
import type { Range } from "../../src/reads/ranges.ts";
import { conditionsOf } from "../../src/reads/ranges.ts";

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

/** Leaves of a list a part of it. */
export const keep =
  (list: PagedList, range: Range) =>
  ({ order, after, before }: PageRequest): Condition =>
  (rows) => {
    const named = { alias: rows.alias, key: list.key, followed: list.followed };
    const stages = () =>
      after!.map((stage) => ({
        key: rowOf(placeSql(order, stage.key) as SQL[]),
        open: stage.open === "" ? null : sql`${sql.value(openRanges(stage.open))}::int8multirange`,
      })) as [StageSql, ...StageSql[]];
    const parts = conditionsOf(range, order, named, {
      after: after && { place: () => placeSql(order, after.at(-1)!.key), stages },
      before: before && { place: () => placeSql(order, before.at(-1)!.key) },
    }).flatMap((condition) => (condition ? [sql.parens(condition)] : []));
    if (parts.length > 0) rows.where(sql.parens(sql.join(parts, " or ")));
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
        fragment: comparable(column, rows.alias),
        codec: TYPES.text,
        ...nulls,
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
