import type {
  PgCodecWithAttributes,
  PgResource,
  PgSelectQueryBuilder,
  PgSelectSingleStep,
  PgSelectStep,
} from "postgraphile/@dataplan/pg";
import { TYPES } from "postgraphile/@dataplan/pg";
import type { EdgeStep, Step } from "postgraphile/grafast";
import { ConnectionStep, constant, ConstantStep, lambda } from "postgraphile/grafast";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { decodeCursor, encodeCursor, listText, openRanges } from "../../src/graphql/cursor.ts";
import { splitGlobalId } from "../../src/graphql/global-id.ts";
import { readPlace } from "../../src/graphql/key-forms.ts";
import type { StageSql } from "../../src/reads/followed.ts";
import { openTransactions } from "../../src/reads/followed.ts";
import { buildComparable, parameterType, buildRowValue } from "../../src/reads/keys.ts";
import type { Order } from "../../src/reads/orders.ts";
import { buildPlaceText } from "../../src/reads/orders.ts";
import type { PagedList, PageRequest } from "../../src/reads/page-request.ts";
import { createCursorList } from "../../src/reads/page-request.ts";
import type { Range } from "../../src/reads/ranges.ts";
import { buildPartConditions } from "../../src/reads/ranges.ts";

type View = PgResource<string, PgCodecWithAttributes>;
/** The library's steps for rows of a view, for one of them, and for edges of its pages. */
export type RowsStep = PgSelectStep<View>;
export type RowStep = PgSelectSingleStep<View>;
export type EdgeOfRows = EdgeStep<unknown, RowStep>;

/** Steps for the arguments of a list: the cursor, the sort order, and all of them checked. */
export interface PageSteps {
  $after: Step;
  $orderBy: Step;
  $page: Step<PageRequest>;
}

// An edge knows its rows, but not the field that lists them
const cursorPartsByRows = new WeakMap<RowsStep, CursorParts>();

/** The parts of which a list's cursors are made. */
interface CursorParts {
  list: PagedList;
  $page: Step<PageRequest>;
  /** In a followed list, a placeholder for the text of the cursor that the page begins after; else null. */
  after: SQL | null;
  /** The text of a row's place in the requested sort order; null if the list is sorted by its key only. */
  place: SQL | null;
}

/** A row's id, its place in another order, the open transactions, and the page's cursor, as Postgres returns them. */
type Values = readonly [id: unknown, place: unknown, open: string, cursor: string | null, page: PageRequest];

/** Plans the cursor of a row of a list. */
export function planCursor($row: RowStep): Step {
  const { list, $page, after, place } = cursorPartsByRows.get($row.getClassStep())!;
  // It has this name whatever columns the key has (plugins/id-columns.ts)
  const $id = $row.get("id");
  // Read by the statement that reads the rows, because its snapshot matters
  const $open = list.followed ? $row.select(openTransactions, TYPES.text) : constant("");
  const $after = after ? $row.select(sql`${after}::text`, TYPES.text) : constant(null);
  const $place = place ? $row.select(place, TYPES.text) : constant(null);
  return lambda([$id, $place, $open, $after, $page] as const, ([id, at, open, cursor, { order }]: Values) => {
    const key = splitGlobalId(id)?.key;
    if (key === undefined) return null;
    const cursors = createCursorList(list, order);
    if (!order.isDefault) return encodeCursor(listText(cursors), at as string);
    if (!list.followed) return encodeCursor(list.list, key);
    return encodeCursor(list.list, key, open, cursor == null ? [] : decodeCursor(cursors, cursor));
  });
}

/** A page of the rows of a view. */
export class PageOfRows extends ConnectionStep<
  unknown,
  RowStep,
  Step,
  EdgeOfRows,
  readonly unknown[] | null,
  RowsStep
> {
  static override $$export = { moduleName: "plugins/lib/list-page", exportName: "PageOfRows" };
  readonly #list: PagedList;
  readonly #pageDependency: number;

  constructor($rows: RowsStep, list: PagedList, { $after, $orderBy, $page }: PageSteps) {
    super($rows);
    this.#list = list;
    // As a dependency, because steps that are only referenced may be replaced during planning.
    this.#pageDependency = this.addUnaryDependency($page);
    const isOrdered = !($orderBy instanceof ConstantStep && $orderBy.data == null);
    cursorPartsByRows.set($rows, {
      list,
      $page,
      after: list.followed ? $rows.placeholder($after, TYPES.text) : null,
      place: isOrdered ? placeTextSql($rows, list, $page) : null,
    });
    $rows.apply(lambda($page, sortRows));
    $rows.setOrderIsUnique();
    this.setFirst(lambda($page, ({ size, isBackward }) => (isBackward ? null : size)));
    if (list.orders) this.setLast(lambda($page, ({ size, isBackward }) => (isBackward ? size : null)));
    $rows.apply(lambda($page, restrictToPage(list)));
  }

  #page(): Step<PageRequest> {
    return this.getDepOptions<Step<PageRequest>>(this.#pageDependency).step;
  }

  hasNextPage(): Step {
    return this.#hasMore("hasNextPage");
  }

  hasPreviousPage(): Step {
    return this.#hasMore("hasPreviousPage");
  }

  /**
   * Plans whether a row follows the page, or precedes it. The library fetches one row more than requested, except for 0
   * rows. Beyond a cursor there is the cursor's own row, unless it was deleted, or another row.
   */
  #hasMore(question: "hasNextPage" | "hasPreviousPage"): Step {
    const isNext = question === "hasNextPage";
    const isOpen = ({ isBackward }: PageRequest) => isNext !== isBackward;
    const isGiven = ({ after, before }: PageRequest) => (isNext ? before : after) !== null;
    const isEmpty = (page: PageRequest) => page.size === 0 && isOpen(page);
    const $page = this.#page();
    const $parts = [
      this.#exists(lambda($page, isEmpty), isNext ? "afterStart" : "beforeEnd"),
      this.#exists(
        lambda($page, (page) => isGiven(page) && !isEmpty(page)),
        isNext ? "following" : "preceding",
      ),
    ];
    if (isNext || this.#list.orders) {
      const $more = super.pageInfo().get(question);
      $parts.push(lambda([$more, $page] as const, ([more, page]) => Boolean(more) && isOpen(page)));
    }
    return lambda($parts, (answers) => answers.some(Boolean));
  }

  /** Plans the number of rows on all pages. Grafast counts them all, but the field shows at most the maximum. */
  totalCount(): Step {
    const $rows: RowsStep = this.cloneSubplanWithoutPagination("aggregate");
    return $rows.singleAsRecord().select(sql`count(*)`, TYPES.bigint, true);
  }

  startCursor(): Step {
    return planCursor(this.nodePlan(lambda(this, firstItem)));
  }

  endCursor(): Step {
    return planCursor(this.nodePlan(lambda(this, lastItem)));
  }

  /**
   * Plans whether the list has a row in a part outside the page: one index lookup, only if it is needed.
   *
   * The clone has mode "aggregate", the library's word for "all rows under the same conditions, unordered".
   */
  #exists($wanted: Step<boolean>, range: Range): Step<boolean> {
    const $rows: RowsStep = this.cloneSubplanWithoutPagination("aggregate");
    // A limit of 0 is never sent to Postgres.
    $rows.setFirst(lambda($wanted, (wanted) => (wanted ? 1 : 0)));
    $rows.apply(lambda(this.#page(), restrictTo(this.#list, range)));
    return lambda($rows.singleAsRecord().select(sql`true`, TYPES.boolean, true), (found) => found === true);
  }
}

// Rows come as an array: they would be streamed only for @stream, which the schema doesn't have.
const itemsOf = (page: { items: unknown } | null) => (page?.items ?? []) as unknown[];
const firstItem = (page: { items: unknown } | null): unknown => itemsOf(page)[0] ?? null;
const lastItem = (page: { items: unknown } | null): unknown => itemsOf(page).at(-1) ?? null;

/** Changes a query of rows before it is run. */
type Condition = (rows: PgSelectQueryBuilder) => void;

/** Returns the place in a cursor as SQL parameters. */
function placeSql({ columns }: Order, key: string): (SQL | null)[] {
  return readPlace(columns, key)!.map((value, part) =>
    value === null ? null : sql`${sql.value(value)}::${parameterType(columns[part]!)}`,
  );
}

/** Restricts a list to a part of it. */
const restrictTo =
  (list: PagedList, range: Range) =>
  ({ order, after, before }: PageRequest): Condition =>
  (rows) => {
    const named = { alias: rows.alias, key: list.key, followed: list.followed };
    const stages = () =>
      after!.map((stage) => ({
        key: buildRowValue(placeSql(order, stage.key) as SQL[]),
        open: stage.open === "" ? null : sql`${sql.value(openRanges(stage.open))}::int8multirange`,
      })) as [StageSql, ...StageSql[]];
    const parts = buildPartConditions(range, order, named, {
      after: after && { place: () => placeSql(order, after.at(-1)!.key), stages },
      before: before && { place: () => placeSql(order, before.at(-1)!.key) },
    }).flatMap((condition) => (condition ? [sql.parens(condition)] : []));
    if (parts.length > 0) rows.where(sql.parens(sql.join(parts, " or ")));
  };

/** Restricts the page to rows between its cursors, but not clones of mode "aggregate", which look outside the page. */
const restrictToPage =
  (list: PagedList) =>
  (page: PageRequest): Condition =>
  (rows) => {
    if (rows.mode !== "aggregate") restrictTo(list, "page")(page)(rows);
  };

/** Sorts rows in the order that the page requests. */
const sortRows =
  ({ order }: PageRequest): Condition =>
  (rows) => {
    for (const column of order.columns) {
      const nulls = column.isNullable ? ({ nulls: order.isDescending ? "FIRST" : "LAST" } as const) : {};
      rows.orderBy({
        fragment: buildComparable(column, rows.alias),
        codec: TYPES.text,
        ...nulls,
        direction: order.isDescending ? "DESC" : "ASC",
      });
    }
  };

/** Returns SQL for the text of a row's place in the requested order. */
function placeTextSql($rows: RowsStep, { orders }: PagedList, $page: Step<PageRequest>): SQL {
  const $name = lambda($page, ({ order }) => order.name);
  const cases = [...orders!.values()]
    .filter(({ isDefault }) => !isDefault)
    .map((order) => sql`when ${sql.literal(order.name)} then ${buildPlaceText(order, $rows.alias)}`);
  return sql`case ${$rows.placeholder($name, TYPES.text)} ${sql.join(cases, " ")} end`;
}
