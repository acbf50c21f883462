import type { PgCodecAnyScalar } from "postgraphile/@dataplan/pg";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { apiError, isApiError } from "../errors/api-error.ts";
import type { Hop } from "./hops.ts";
import type { Operator, Parameter } from "./operator.ts";
import { checkText } from "./filter-operators.ts";
import type { Quantifier } from "./related-rows.ts";
import { buildRelatedCondition, maxRelations, maxRelationDepth, quantifiers } from "./related-rows.ts";

/** A column that a filter offers. */
export interface FilterColumn {
  /** Name in SQL. */
  name: string;
  /** Returns the SQL that is compared, if it isn't the column with that name. */
  expression?: (rows: SQL) => SQL;
  /** Converts its values to parameters. */
  codec: PgCodecAnyScalar;
  operators: Readonly<Record<string, Operator>>;
}

/** A relation that a filter follows. */
export interface FilterRelation {
  hops: readonly Hop[];
  /** Whether it leads to many rows, so that a filter needs a quantifier. */
  isMany: boolean;
  /** The fields of the filter of the rows at its end. */
  fields: FilterFields;
}

/** The fields of a filter's input except AND, OR and NOT: columns and relations by GraphQL name. */
export type FilterFields = ReadonlyMap<string, FilterColumn | FilterRelation>;

/** A filter after coercion by the input types: it has the right shape, but may contain nulls. */
export type FilterValue = { readonly [name: string]: unknown };

/** The most values in one list of a filter. */
const maxListLength = 250;
const maxDepth = 10;
const maxComparisons = 1000;

/** The current position in a filter: its path, for error messages, and what the limits still allow. */
interface FilterPosition {
  path: string;
  depth: number;
  /** The number of relations that lead here. */
  relationDepth: number;
  budget: { comparisons: number; relations: number };
}

/** A comparison of a column, with the operand as a parameter. */
export interface Comparison {
  column: FilterColumn;
  /** The operator's name. */
  name: string;
  operator: Operator;
  flag?: boolean;
  parameters: readonly Parameter[];
}

/** A checked filter. Null matches every row. */
export type FilterTree =
  | null
  | { kind: "comparison"; comparison: Comparison }
  /** A filter of the rows at the end of a relation. */
  | { kind: "related"; name: string; relation: FilterRelation; quantifier: Quantifier; tree: FilterTree }
  | { kind: "not"; tree: FilterTree }
  | { kind: "and" | "or"; trees: readonly FilterTree[] };

/**
 * Checks a filter.
 *
 * All fields of a filter must match. An empty filter matches every row, and so does an empty list in AND or OR.
 *
 * @throws BAD_USER_INPUT for a null, an invalid id, a list of more than 250 values, or a filter above the limits
 */
export function readFilter(fields: FilterFields, filter: FilterValue): FilterTree {
  return readTree(fields, filter, {
    path: "filter",
    depth: 0,
    relationDepth: 0,
    budget: { comparisons: maxComparisons, relations: maxRelations },
  });
}

function readTree(fields: FilterFields, filter: FilterValue, at: FilterPosition): FilterTree {
  if (at.depth > maxDepth) refuse(at.path, `filters can't be nested deeper than ${maxDepth} levels.`);
  const trees: FilterTree[] = [];
  for (const [name, value] of Object.entries(filter)) {
    const here = { ...at, path: `${at.path}.${name}`, depth: at.depth + 1 };
    if (value === undefined) continue;
    if (value === null) refuse(here.path, `must not be null. Leave it out${hintAtIsNull(fields.get(name))}.`);
    if (name === "NOT") {
      trees.push({ kind: "not", tree: readTree(fields, value as FilterValue, here) });
    } else if (name === "AND" || name === "OR") {
      trees.push(readBranches(fields, value as FilterValue[], name, here));
    } else {
      const field = fields.get(name)!;
      const isRelation = "hops" in field;
      trees.push(
        isRelation
          ? readRelation(name, field, value as FilterValue, here)
          : readComparisons(field, value as FilterValue, here),
      );
    }
  }
  return combineWithAnd(trees);
}

/** Reads the filter of a relation. If it leads to one row at most, the row has to exist. */
function readRelation(
  name: string,
  relation: FilterRelation,
  filter: FilterValue,
  at: FilterPosition,
): FilterTree {
  const below = { ...at, relationDepth: at.relationDepth + 1 };
  if (below.relationDepth > maxRelationDepth)
    refuse(at.path, `a filter can't follow more than ${maxRelationDepth} relations one after the other.`);
  const related = (quantifier: Quantifier, value: FilterValue, path: string): FilterTree => {
    if (at.budget.relations-- <= 0) refuse("filter", `more than ${maxRelations} relations.`);
    const tree = readTree(relation.fields, value, { ...below, path });
    // If any row matches, `every` is always true
    return quantifier === "every" && !tree ? null : { kind: "related", name, relation, quantifier, tree };
  };
  if (!relation.isMany) return related("some", filter, at.path);
  const trees = quantifiers.map((quantifier) => {
    const path = `${at.path}.${quantifier}`;
    const value = filter[quantifier] as FilterValue | null | undefined;
    if (value === null) refuse(path, "must not be null. Leave it out.");
    return value === undefined ? null : related(quantifier, value, path);
  });
  return combineWithAnd(trees);
}

function combineWithAnd(trees: readonly FilterTree[]): FilterTree {
  const some = trees.filter((tree) => tree !== null);
  return some.length > 1 ? { kind: "and", trees: some } : (some[0] ?? null);
}

function readBranches(
  fields: FilterFields,
  list: FilterValue[],
  name: "AND" | "OR",
  at: FilterPosition,
): FilterTree {
  checkLength(list, at.path);
  const trees = list.map((filter, index) =>
    readTree(fields, filter, { ...at, path: `${at.path}[${index}]` }),
  );
  if (name === "AND") return combineWithAnd(trees);
  // A branch without a condition always matches, and so does the whole.
  return trees.length === 0 || trees.includes(null) ? null : { kind: "or", trees };
}

/** Returns a hint at the operator `isNull`, if the field has it: filters of ids don't. */
function hintAtIsNull(field: FilterColumn | FilterRelation | undefined): string {
  return field && "operators" in field && field.operators.isNull
    ? ", or look for null with `isNull: true`"
    : "";
}

function readComparisons(column: FilterColumn, operands: FilterValue, at: FilterPosition): FilterTree {
  const trees: FilterTree[] = [];
  for (const [name, operand] of Object.entries(operands)) {
    const path = `${at.path}.${name}`;
    if (operand === undefined) continue;
    if (operand === null) refuse(path, `must not be null. Leave it out${hintAtIsNull(column)}.`);
    if (at.budget.comparisons-- <= 0) refuse("filter", `more than ${maxComparisons} comparisons.`);
    const operator = column.operators[name]!;
    const values = Array.isArray(operand) ? operand : [operand];
    checkLength(values, path);
    try {
      values.forEach(checkText);
      const parameters = operator.parameters(operand, column.codec);
      const comparison = { column, name, operator, parameters };
      const isFlag = operator.operand === "flag";
      trees.push({
        kind: "comparison",
        comparison: isFlag ? { ...comparison, flag: operand as boolean } : comparison,
      });
    } catch (error) {
      // The codec of ids doesn't know the path
      throw isApiError(error) ? apiError(error.extensions.code, `${path}: ${error.message}`) : error;
    }
  }
  return combineWithAnd(trees);
}

/**
 * Returns the SQL condition of a filter.
 *
 * @param alias the alias of its rows
 * @param toSql returns SQL for a parameter; called for each, in the order of the tree
 * @returns null when every row matches
 */
export function buildCondition(
  tree: FilterTree,
  alias: SQL,
  toSql: (parameter: Parameter) => SQL = ({ value, type }) => sql`${sql.value(value)}::${type}`,
): SQL | null {
  if (tree === null) return null;
  if (tree.kind === "comparison") {
    const { column, operator, parameters, flag } = tree.comparison;
    const compared = column.expression?.(alias) ?? sql`${alias}.${sql.identifier(column.name)}`;
    return operator.condition(compared, parameters.map(toSql), flag);
  }
  if (tree.kind === "related") {
    const { relation, quantifier } = tree;
    return buildRelatedCondition(relation.hops, quantifier, alias, (rows) =>
      buildCondition(tree.tree, rows, toSql),
    );
  }
  if (tree.kind === "not") {
    const inner = buildCondition(tree.tree, alias, toSql);
    return inner ? sql`not (${inner})` : sql.false;
  }
  const conditions = tree.trees.map((inner) => sql`(${buildCondition(inner, alias, toSql)!})`);
  return sql.join(conditions, tree.kind === "and" ? " and " : " or ");
}

/** Checks the length of a list. @throws BAD_USER_INPUT for a list that is too long */
export function checkLength(list: readonly unknown[], path: string): void {
  if (list.length > maxListLength) {
    throw apiError("BAD_USER_INPUT", `${path}: lists can't be longer than ${maxListLength}.`);
  }
}

function refuse(path: string, problem: string): never {
  throw apiError("BAD_USER_INPUT", `${path}: ${problem}`);
}
