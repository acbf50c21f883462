import type { PgSelectQueryBuilder, PgSelectSingleStep, PgSelectStep } from "postgraphile/@dataplan/pg";
import { TYPES } from "postgraphile/@dataplan/pg";
import type { ConnectionStep, Step } from "postgraphile/grafast";
import { constant, ConstantStep, lambda, UnbatchedStep } from "postgraphile/grafast";
import { sql } from "postgraphile/pg-sql2";
import { encodeCursor } from "./cursor.ts";
import { decodeGlobalId } from "./global-id.ts";

/** The connection of rows of a view. */
export type RowConnection = ConnectionStep<any, PgSelectSingleStep, any, any, any, any>;

/** What is known of a list while its page is planned. */
export interface PageRequest {
  /** The field, for example `Tag.products`. */
  list: string;
  /** The primary key column, which orders the list. */
  key: string;
  /** How many entries are wanted, once the argument is checked. */
  $first: Step<number>;
  /** Primary key of the entry before the page, or null: once the cursor is checked. */
  $after: Step<string | null>;
  /** Whether `first` may turn out to be 0. */
  mayBeEmpty: boolean;
  /** Whether `after` may turn out to be given. */
  mayFollow: boolean;
}

// Kept beside the steps, because an edge and a pageInfo know their rows, but not the field that listed them.
const requests = new WeakMap<PgSelectStep, PageRequest>();

/** The rows that a connection pages through. */
export const rowsOf = ($connection: RowConnection): PgSelectStep => $connection.getSubplan() as PgSelectStep;

/** Remembers how a list is asked for; every connection does this once, when its arguments are planned. */
export function rememberPage($connection: RowConnection, request: PageRequest): void {
  requests.set(rowsOf($connection), request);
}

/** The cursor of a row of a list. */
export function cursorOf($row: PgSelectSingleStep): Step {
  const { list, key } = requests.get($row.getClassStep())!;
  return lambda($row.get(key), (id) => {
    const uuid = decodeGlobalId(id)?.uuid;
    return uuid ? encodeCursor(list, uuid) : null;
  });
}

type Condition = (rows: PgSelectQueryBuilder) => void;

/** Lets the page begin after a row. Clones that look beside the page ("aggregate") don't keep to it. */
export function beginAfter(key: string): (uuid: string | null) => Condition {
  const after = beside(key, ">");
  return (uuid) => {
    const condition = after(uuid);
    return (rows) => {
      if (rows.mode !== "aggregate") condition(rows);
    };
  };
}

/** Rows after, or up to, the one with a primary key. */
function beside(key: string, comparison: ">" | "<="): (uuid: string | null) => Condition {
  const operator = comparison === ">" ? sql`>` : sql`<=`;
  return (uuid) => (rows) => {
    if (uuid === null) return;
    rows.where(sql`${rows.alias}.${sql.identifier(key)} ${operator} ${sql.value(uuid)}::uuid`);
  };
}

/**
 * Whether the list has a row on one side of the page: one look at an index, and none when `wanted` is false.
 *
 * The clone is of mode "aggregate", which is the library's word for "all rows under the same conditions, in no order".
 */
function exists(
  $connection: RowConnection,
  $wanted: Step<boolean>,
  $condition: Step<Condition>,
): Step<boolean> {
  const $rows: PgSelectStep = $connection.cloneSubplanWithoutPagination("aggregate");
  // A limit of 0 is never sent to Postgres.
  $rows.setFirst(lambda($wanted, (wanted) => (wanted ? 1 : 0)));
  $rows.apply($condition);
  return lambda($rows.singleAsRecord().select(sql`true`, TYPES.boolean, true), (found) => found === true);
}

/** `pageInfo` of a connection. Each field costs only when it is asked for. */
export class PageStep extends UnbatchedStep {
  static override $$export = { moduleName: "plugins/page", exportName: "PageStep" };
  override isSyncAndSafe = true;

  constructor($connection: RowConnection) {
    super();
    this.addDependency($connection);
  }

  override unbatchedExecute(_extra: unknown, page: unknown): unknown {
    return page;
  }

  get(fieldName: string): Step {
    const $connection = this.getDepOptions(0).step as RowConnection;
    switch (fieldName) {
      case "hasNextPage":
        return this.#hasNextPage($connection);
      case "hasPreviousPage":
        return this.#hasPreviousPage($connection);
      case "startCursor":
        return cursorOf($connection.nodePlan(lambda($connection, firstItem)));
      case "endCursor":
        return cursorOf($connection.nodePlan(lambda($connection, lastItem)));
      default:
        throw new Error(`PageInfo has no plan for ${fieldName}`);
    }
  }

  /** Whether there is more than the page holds. The library fetches one row more than asked, except for 0 rows. */
  #hasNextPage($connection: RowConnection): Step {
    const $more = $connection.pageInfo().get("hasNextPage");
    const { key, $first, $after, mayBeEmpty } = requests.get(rowsOf($connection))!;
    if (!mayBeEmpty) return $more;
    const $wanted = lambda($first, (first) => first === 0);
    const $any = exists($connection, $wanted, lambda($after, beside(key, ">")));
    return lambda([$more, $any], ([more, any]) => more || any);
  }

  /** Whether an entry stands before the page: the one of the cursor, unless it is gone, or any before it. */
  #hasPreviousPage($connection: RowConnection): Step {
    const { key, $after, mayFollow } = requests.get(rowsOf($connection))!;
    if (!mayFollow) return constant(false);
    const $wanted = lambda($after, (after) => after !== null);
    return exists($connection, $wanted, lambda($after, beside(key, "<=")));
  }
}

// Rows come as an array: they would be streamed only for @stream, which the schema doesn't have.
const itemsOf = (page: { items: unknown } | null) => (page?.items ?? []) as unknown[];
const firstItem = (page: { items: unknown } | null): unknown => itemsOf(page)[0] ?? null;
const lastItem = (page: { items: unknown } | null): unknown => itemsOf(page).at(-1) ?? null;

/** The value of an argument when it does not come from a variable; undefined when only execution will tell. */
export function knownValue($argument: Step): { value: unknown } | undefined {
  return $argument instanceof ConstantStep ? { value: $argument.data } : undefined;
}
