import type {
  PgCodecWithAttributes,
  PgResource,
  PgSelectQueryBuilder,
  PgSelectSingleStep,
  PgSelectStep,
} from "postgraphile/@dataplan/pg";
import { TYPES } from "postgraphile/@dataplan/pg";
import type { EdgeStep, Step } from "postgraphile/grafast";
import { ConnectionStep, constant, ConstantStep, lambda, UnbatchedStep } from "postgraphile/grafast";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { Position } from "../../src/graphql/cursor.ts";
import { decodeCursor, encodeCursor, openRanges } from "../../src/graphql/cursor.ts";
import type { Followed, NamedRows, StageSql } from "../../src/reads/followed.ts";
import { given, notYetGiven, openTransactions } from "../../src/reads/followed.ts";
import { splitGlobalId } from "../../src/graphql/global-id.ts";
import { readKey } from "../../src/graphql/key-forms.ts";
import type { Key } from "../../src/reads/keys.ts";
import { orderOf, parameterType, rowOf } from "../../src/reads/keys.ts";

type View = PgResource<string, PgCodecWithAttributes>;
/** The library's steps for rows of a view, and for edges of its pages. */
export type RowStep = PgSelectSingleStep<View>;
export type RowsStep = PgSelectStep<View>;
export type EdgeOfRows = EdgeStep<unknown, RowStep>;

/** What a field lists, and how. */
export interface ListDetails {
  /** The field, for example `Tag.products`. */
  list: string;
  /** The primary key, which orders the list. */
  key: Key;
  /** How it is followed, if it is. */
  followed: Followed | undefined;
}

/** The arguments of a list: raw, and checked. */
export interface PageSteps {
  $rawFirst: Step;
  $rawAfter: Step;
  $first: Step<number>;
  /** The start of the page, or null. */
  $after: Step<Position | null>;
}

type Condition = (rows: PgSelectQueryBuilder) => void;
type Side = (rows: NamedRows, stages: [StageSql, ...StageSql[]]) => SQL;

// An edge knows its rows, but neither the field that lists them nor the start of the page: in a followed list, that is
// a placeholder for the text of the cursor.
const listOf = new WeakMap<RowsStep, ListDetails & { after: SQL | null }>();

/** The value of an argument that is no variable; undefined when it is known only during execution. */
function knownValue($argument: Step): { value: unknown } | undefined {
  return $argument instanceof ConstantStep ? { value: $argument.data } : undefined;
}

/** The id, the open transactions and the cursor of the page, as Postgres returns them. */
type Values = readonly [id: unknown, open: string, cursor: string | null];

/** The cursor of a row of a list. */
export function cursorOf($row: RowStep): Step {
  const details = listOf.get($row.getClassStep())!;
  const { list, followed, after } = details;
  // Called `id` whatever the key is made of (plugins/id-columns.ts)
  const $id = $row.get("id");
  if (!followed)
    return lambda($id, (id) => {
      const key = splitGlobalId(id)?.key;
      return key === undefined ? null : encodeCursor(list, key);
    });
  // In the statement that reads the rows, because its snapshot matters
  const $open = $row.select(openTransactions, TYPES.text);
  const $after = after ? $row.select(sql`${after}::text`, TYPES.text) : constant(null);
  return lambda([$id, $open, $after] as const, ([id, open, cursor]: Values) => {
    const key = splitGlobalId(id)?.key;
    if (key === undefined) return null;
    return encodeCursor(list, key, open, cursor == null ? [] : decodeCursor(details, cursor));
  });
}

/** Rows on one side of a cursor. */
function beside({ key, followed }: ListDetails, side: Side): (after: Position | null) => Condition {
  return (after) => (rows) => {
    if (after === null) return;
    const stages = after.map((stage) => ({
      key: rowOf(
        readKey(key, stage.key)!.map((value, part) => sql`${sql.value(value)}::${parameterType(key[part]!)}`),
      ),
      open: stage.open === "" ? null : sql`${sql.value(openRanges(stage.open))}::int8multirange`,
    }));
    rows.where(sql.parens(side({ alias: rows.alias, key, followed }, stages as [StageSql, ...StageSql[]])));
  };
}

/** Makes the page begin after a cursor. Clones of mode "aggregate", which look beside the page, ignore that. */
function beginAfter(details: ListDetails): (after: Position | null) => Condition {
  const condition = beside(details, notYetGiven);
  return (after) => (rows) => {
    if (rows.mode !== "aggregate") condition(after)(rows);
  };
}

/** A page of the rows of a view, in the order of their primary key. */
export class PageOfRows extends ConnectionStep<
  unknown,
  RowStep,
  Step,
  EdgeOfRows,
  readonly unknown[] | null,
  RowsStep
> {
  static override $$export = { moduleName: "plugins/page", exportName: "PageOfRows" };
  readonly #details: ListDetails;
  readonly #afterDependency: number;
  /** Whether `first` may be 0. */
  readonly #mayBeEmpty: boolean;
  /** Whether `after` may be given. */
  readonly #mayFollow: boolean;

  constructor($rows: RowsStep, details: ListDetails, { $rawFirst, $rawAfter, $first, $after }: PageSteps) {
    super($rows);
    this.#details = details;
    // As a dependency, because steps that are only referenced may be replaced during planning.
    this.#afterDependency = this.addUnaryDependency($after);
    const knownFirst = knownValue($rawFirst);
    const knownAfter = knownValue($rawAfter);
    this.#mayBeEmpty = !knownFirst || knownFirst.value === 0;
    this.#mayFollow = !knownAfter || knownAfter.value != null;
    const remembersAfter = details.followed !== undefined && this.#mayFollow;
    listOf.set($rows, {
      ...details,
      after: remembersAfter ? $rows.placeholder($rawAfter, TYPES.text) : null,
    });
    for (const fragment of orderOf(details.key, $rows.alias))
      $rows.orderBy({ fragment, codec: TYPES.text, direction: "ASC" });
    $rows.setOrderIsUnique();
    this.setFirst($first);
    if (this.#mayFollow) $rows.apply(lambda($after, beginAfter(details)));
  }

  #after(): Step<Position | null> {
    return this.getDepOptions<Step<Position | null>>(this.#afterDependency).step;
  }

  /**
   * Whether there are more rows than the page holds. The library fetches one row more than requested, except for 0
   * rows.
   */
  hasNextPage(): Step {
    const $more = super.pageInfo().get("hasNextPage");
    if (!this.#mayBeEmpty) return $more;
    const $wanted = lambda(this.getFirst()!, (first) => first === 0);
    const $any = this.#exists($wanted, lambda(this.#after(), beside(this.#details, notYetGiven)));
    return lambda([$more, $any], ([more, any]) => more || any);
  }

  /** Whether a row comes before the page: that of the cursor, unless it was deleted, or an earlier one. */
  hasPreviousPage(): Step {
    if (!this.#mayFollow) return constant(false);
    const $wanted = lambda(this.#after(), (after) => after !== null);
    return this.#exists($wanted, lambda(this.#after(), beside(this.#details, given)));
  }

  startCursor(): Step {
    return cursorOf(this.nodePlan(lambda(this, firstItem)));
  }

  endCursor(): Step {
    return cursorOf(this.nodePlan(lambda(this, lastItem)));
  }

  /**
   * Whether the list has a row on one side of the page: one look at an index, and only when it is needed.
   *
   * The clone has mode "aggregate", the library's word for "all rows under the same conditions, unordered".
   */
  #exists($wanted: Step<boolean>, $condition: Step<Condition>): Step<boolean> {
    const $rows: RowsStep = this.cloneSubplanWithoutPagination("aggregate");
    // A limit of 0 is never sent to Postgres.
    $rows.setFirst(lambda($wanted, (wanted) => (wanted ? 1 : 0)));
    $rows.apply($condition);
    return lambda($rows.singleAsRecord().select(sql`true`, TYPES.boolean, true), (found) => found === true);
  }
}

// Rows come as an array: they would be streamed only for @stream, which the schema doesn't have.
const itemsOf = (page: { items: unknown } | null) => (page?.items ?? []) as unknown[];
const firstItem = (page: { items: unknown } | null): unknown => itemsOf(page)[0] ?? null;
const lastItem = (page: { items: unknown } | null): unknown => itemsOf(page).at(-1) ?? null;

/** The `pageInfo` of a page. A field costs only when it is requested. */
export class PageInfoOfRows extends UnbatchedStep {
  static override $$export = { moduleName: "plugins/page", exportName: "PageInfoOfRows" };
  override isSyncAndSafe = true;

  constructor($page: PageOfRows) {
    super();
    this.addDependency($page);
  }

  override unbatchedExecute(_extra: unknown, page: unknown): unknown {
    return page;
  }

  get(fieldName: string): Step {
    const $page = this.getDepOptions<PageOfRows>(0).step;
    switch (fieldName) {
      case "hasNextPage":
      case "hasPreviousPage":
      case "startCursor":
      case "endCursor":
        return $page[fieldName]();
      default:
        throw new Error(`PageInfo has no plan for ${fieldName}`);
    }
  }
}
