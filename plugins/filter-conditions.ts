import type { PgCodecAnyScalar } from "postgraphile/@dataplan/pg";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { apiError, isApiError } from "../src/errors.ts";
import type { Operator } from "./filter-operators.ts";
import { checkText } from "./filter-operators.ts";

/** A column that a filter can look at. */
export interface FilterColumn {
  /** Name in SQL. */
  name: string;
  /** How its values become parameters. */
  codec: PgCodecAnyScalar;
  operators: Readonly<Record<string, Operator>>;
}

/** What the filter input of one type holds beside AND, OR and NOT: columns by GraphQL name. */
export type FilterColumns = ReadonlyMap<string, FilterColumn>;

/** A filter as GraphQL hands it over: coerced by the input types, so of the right shape but for nulls. */
export type FilterValue = { readonly [name: string]: unknown };

/** The most values in one list of a filter. */
export const maximalListLength = 250;
const maximalDepth = 10;
const maximalComparisons = 1000;

/** Where in the filter we are, for error messages, and how much of it there was. */
interface Position {
  path: string;
  depth: number;
  budget: { comparisons: number };
}

/**
 * Turns a filter into a condition.
 *
 * Fields side by side must all hold. An empty filter holds for every row, and so does an empty list of AND or OR.
 *
 * @param alias the rows that the condition is about
 * @returns null when every row matches
 * @throws BAD_USER_INPUT for a null, a bad id, a list of more than 250, a filter of absurd size
 */
export function filterCondition(columns: FilterColumns, filter: FilterValue, alias: SQL): SQL | null {
  return conditionOf(columns, filter, alias, {
    path: "filter",
    depth: 0,
    budget: { comparisons: maximalComparisons },
  });
}

function conditionOf(columns: FilterColumns, filter: FilterValue, alias: SQL, at: Position): SQL | null {
  if (at.depth > maximalDepth) refuse(at.path, `filters can't be nested deeper than ${maximalDepth} levels.`);
  const conditions: SQL[] = [];
  const add = (condition: SQL | null) => condition && conditions.push(condition);
  for (const [name, value] of Object.entries(filter)) {
    const here = { ...at, path: `${at.path}.${name}`, depth: at.depth + 1 };
    if (value === undefined) continue;
    if (value === null) refuse(here.path, "must not be null. Leave it out, or compare with `isNull`.");
    if (name === "NOT") {
      const inner = conditionOf(columns, value as FilterValue, alias, here);
      add(inner ? sql`not (${inner})` : sql.false);
    } else if (name === "AND" || name === "OR") {
      add(branches(columns, value as FilterValue[], name, alias, here));
    } else {
      add(comparisons(columns.get(name)!, value as FilterValue, alias, here));
    }
  }
  return all(conditions);
}

const all = (conditions: SQL[]): SQL | null =>
  conditions.length > 1 ? sql.join(conditions.map(parenthesised), " and ") : (conditions[0] ?? null);
const parenthesised = (condition: SQL): SQL => sql`(${condition})`;

function branches(columns: FilterColumns, list: FilterValue[], name: "AND" | "OR", alias: SQL, at: Position) {
  checkLength(list, at.path);
  const conditions = list.map((filter, index) =>
    conditionOf(columns, filter, alias, { ...at, path: `${at.path}[${index}]` }),
  );
  const some = conditions.filter((condition) => condition !== null);
  if (name === "AND") return all(some);
  // A branch without condition holds always, and so does the whole.
  return some.length < conditions.length || some.length === 0
    ? null
    : sql.join(some.map(parenthesised), " or ");
}

function comparisons(column: FilterColumn, operands: FilterValue, alias: SQL, at: Position): SQL | null {
  const expression = sql`${alias}.${sql.identifier(column.name)}`;
  const conditions: SQL[] = [];
  for (const [name, operand] of Object.entries(operands)) {
    const path = `${at.path}.${name}`;
    if (operand === undefined) continue;
    if (operand === null) refuse(path, "must not be null. To look for null, use `isNull: true`.");
    if (at.budget.comparisons-- <= 0) refuse("filter", `more than ${maximalComparisons} comparisons.`);
    const operator = column.operators[name]!;
    const values = Array.isArray(operand) ? operand : [operand];
    checkLength(values, path);
    try {
      values.forEach(checkText);
      conditions.push(operator.compare(expression, operand, column.codec));
    } catch (error) {
      // The codec of ids refuses without knowing where it stands.
      throw isApiError(error) ? apiError(error.extensions.code, `${path}: ${error.message}`) : error;
    }
  }
  return all(conditions);
}

function checkLength(list: unknown[], path: string): void {
  if (list.length > maximalListLength) {
    throw apiError("BAD_USER_INPUT", `${path}: lists can't be longer than ${maximalListLength}.`);
  }
}

function refuse(path: string, problem: string): never {
  throw apiError("BAD_USER_INPUT", `${path}: ${problem}`);
}
