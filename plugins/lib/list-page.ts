import type { PgSelectSingleStep } from "postgraphile/@dataplan/pg";
import { TYPES } from "postgraphile/@dataplan/pg";
import type { EdgeStep, Step } from "postgraphile/grafast";
import { ConnectionStep, constant, ConstantStep, lambda } from "postgraphile/grafast";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { decodeCursor, encodeCursor, listText } from "../../src/graphql/cursor.ts";
import { openTransactions } from "../../src/reads/followed.ts";
import { splitGlobalId } from "../../src/graphql/global-id.ts";
import { orderOf } from "../../src/reads/keys.ts";
import type { PagedList, PageRequest, RawPage } from "../../src/reads/page-request.ts";
import { cursorListOf } from "../../src/reads/page-request.ts";
import type { Range } from "../../src/reads/ranges.ts";
import type { RowsStep, View } from "./page-rows.ts";
import { keep, orderRows, placeOf, stayWithin } from "./page-rows.ts";

/** The library's steps for rows of a view, and for edges of its pages. */
export type RowStep = PgSelectSingleStep<View>;
export type EdgeOfRows = EdgeStep<unknown, RowStep>;

/** The arguments of a list: raw, and checked. */
export interface PageSteps {
  $raw: Readonly<Record<keyof RawPage, Step>>;
  $page: Step<PageRequest>;
}

// An edge knows its rows, but not the field that lists them
const cursorsOf = new WeakMap<RowsStep, Cursors>();

/** The value of an argument that is no variable; undefined when it is known only during execution. */
function knownValue($argument: Step): { value: unknown } | undefined {
  return $argument instanceof ConstantStep ? { value: $argument.data } : undefined;
}

/** What cursors of a list are made of. */
interface Cursors {
  list: PagedList;
  $page: Step<PageRequest>;
  /** In a followed list, a placeholder for the text of the cursor that the page begins after; else null. */
  after: SQL | null;
  /** The text of a row's place in the order that was asked for; null where only that of the key can be. */
  place: SQL | null;
}

/** Of a row: the id, its place in another order, the open transactions, the cursor of the page, as Postgres returns them. */
type Values = readonly [id: unknown, place: unknown, open: string, cursor: string | null, page: PageRequest];

/** The cursor of a row of a list. */
export function cursorOf($row: RowStep): Step {
  const { list, $page, after, place } = cursorsOf.get($row.getClassStep())!;
  // Called `id` whatever the key is made of (plugins/id-columns.ts)
  const $id = $row.get("id");
  // In the statement that reads the rows, because its snapshot matters
  const $open = list.followed ? $row.select(openTransactions, TYPES.text) : constant("");
  const $after = after ? $row.select(sql`${after}::text`, TYPES.text) : constant(null);
  const $place = place ? $row.select(place, TYPES.text) : constant(null);
  return lambda([$id, $place, $open, $after, $page] as const, ([id, at, open, cursor, { order }]: Values) => {
    const key = splitGlobalId(id)?.key;
    if (key === undefined) return null;
    const cursors = cursorListOf(list, order);
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
  /** Whether the page can have no rows because none are asked for. */
  readonly #mayBeEmpty: boolean;
  /** Which cursors may be given. */
  readonly #may: { begin: boolean; end: boolean };

  constructor($rows: RowsStep, list: PagedList, { $raw, $page }: PageSteps) {
    super($rows);
    this.#list = list;
    // As a dependency, because steps that are only referenced may be replaced during planning.
    this.#pageDependency = this.addUnaryDependency($page);
    const mayBe = (name: keyof RawPage) => {
      const known = knownValue($raw[name]);
      return !known || known.value != null;
    };
    this.#mayBeEmpty = [$raw.first, $raw.last].some(
      ($size) => (knownValue($size) ?? { value: 0 }).value === 0,
    );
    this.#may = { begin: mayBe("after"), end: mayBe("before") };
    const isOrdered = mayBe("orderBy");
    const remembersAfter = list.followed !== undefined && this.#may.begin;
    cursorsOf.set($rows, {
      list,
      $page,
      after: remembersAfter ? $rows.placeholder($raw.after, TYPES.text) : null,
      place: isOrdered ? placeOf($rows, list, $page) : null,
    });
    if (isOrdered) $rows.apply(lambda($page, orderRows));
    else
      for (const fragment of orderOf(list.key, $rows.alias))
        $rows.orderBy({ fragment, codec: TYPES.text, direction: "ASC" });
    $rows.setOrderIsUnique();
    this.setFirst(lambda($page, ({ size, isBackward }) => (isBackward ? null : size)));
    if (mayBe("last") || this.#may.end)
      this.setLast(lambda($page, ({ size, isBackward }) => (isBackward ? size : null)));
    if (this.#may.begin || this.#may.end) $rows.apply(lambda($page, stayWithin(list)));
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
   * Whether a row comes after the page, or before it. The library fetches one row more than requested, except for 0 rows;
   * beyond a cursor there is its own row, unless it was deleted, or another.
   */
  #hasMore(question: "hasNextPage" | "hasPreviousPage"): Step {
    const isNext = question === "hasNextPage";
    const isOpen = ({ isBackward }: PageRequest) => isNext !== isBackward;
    const parts: Step[] = [];
    const mayBeOpen = isNext || this.getLast() !== null;
    if (mayBeOpen) {
      const $more = super.pageInfo().get(question);
      parts.push(lambda([$more, this.#page()] as const, ([more, page]) => Boolean(more) && isOpen(page)));
    }
    if (mayBeOpen && this.#mayBeEmpty) {
      const $wanted = lambda(this.#page(), (page) => page.size === 0 && isOpen(page));
      parts.push(this.#exists($wanted, isNext ? "afterStart" : "beforeEnd"));
    }
    if (isNext ? this.#may.end : this.#may.begin) {
      const isGiven = ({ after, before }: PageRequest) => (isNext ? before : after) !== null;
      const $wanted = lambda(this.#page(), (page) => isGiven(page) && !(page.size === 0 && isOpen(page)));
      parts.push(this.#exists($wanted, isNext ? "following" : "preceding"));
    }
    if (parts.length === 0) return constant(false);
    return parts.length === 1 ? parts[0]! : lambda(parts, (answers) => answers.some(Boolean));
  }

  /** How many rows the list has, on all pages: counted by the library without an end, and said only up to the maximum. */
  totalCount(): Step {
    const $rows: RowsStep = this.cloneSubplanWithoutPagination("aggregate");
    return $rows.singleAsRecord().select(sql`count(*)`, TYPES.bigint, true);
  }

  startCursor(): Step {
    return cursorOf(this.nodePlan(lambda(this, firstItem)));
  }

  endCursor(): Step {
    return cursorOf(this.nodePlan(lambda(this, lastItem)));
  }

  /**
   * Whether the list has a row in a part beside the page: one look at an index, and only when it is needed.
   *
   * The clone has mode "aggregate", the library's word for "all rows under the same conditions, unordered".
   */
  #exists($wanted: Step<boolean>, range: Range): Step<boolean> {
    const $rows: RowsStep = this.cloneSubplanWithoutPagination("aggregate");
    // A limit of 0 is never sent to Postgres.
    $rows.setFirst(lambda($wanted, (wanted) => (wanted ? 1 : 0)));
    $rows.apply(lambda(this.#page(), keep(this.#list, range)));
    return lambda($rows.singleAsRecord().select(sql`true`, TYPES.boolean, true), (found) => found === true);
  }
}

// Rows come as an array: they would be streamed only for @stream, which the schema doesn't have.
const itemsOf = (page: { items: unknown } | null) => (page?.items ?? []) as unknown[];
const firstItem = (page: { items: unknown } | null): unknown => itemsOf(page)[0] ?? null;
const lastItem = (page: { items: unknown } | null): unknown => itemsOf(page).at(-1) ?? null;
