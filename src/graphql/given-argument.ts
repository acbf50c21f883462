import type {
  ArgumentNode,
  FieldNode,
  GraphQLArgument,
  GraphQLSchema,
  OperationDefinitionNode,
  TypeNode,
  ValueNode,
} from "postgraphile/graphql";
import { isLeafType, Kind, valueFromASTUntyped } from "postgraphile/graphql";
import { countRelations } from "./filter-relations.ts";
import type { PayloadBound } from "./page-size.ts";
import { defaultBound, defaultPageSize, maxPageSize } from "./page-size.ts";
import type { Variables } from "./operation.ts";

/** Operators that no index answers: Postgres examines every row. */
const scanningOperators = new Set(["contains", "endsWith", "hasKey", "isEmpty", "overlaps"]);
/** Rows that such a comparison counts as; others count as one. */
const rowsPerScan = 20;

/** Returns the number of rows that a comparison by an operator counts as. */
export const comparisonRows = (operator: string): number =>
  scanningOperators.has(operator) ? rowsPerScan : 1;

/** Rows that a relation in a filter counts as: each row that is examined needs a lookup in another table. */
export const rowsPerRelation = 20;

/** The cause of a size: the document alone, also which variables are given, or also their values. */
export type Dependence = "document" | "given" | "values";

/** An argument, such as the input of a mutation. It is not validated yet, so it may contain anything. */
export class ArgumentSize {
  readonly #value: unknown;
  /** Relations that it follows, if it is a filter. */
  readonly relations: number;
  /** Dependence of its comparisons and lines. A variable of a scalar type is one comparison, whatever its value. */
  readonly dependence: Dependence;

  /** @param argument its definition in the field */
  constructor(
    schema: GraphQLSchema,
    node: FieldNode,
    argument: GraphQLArgument | undefined,
    operation: OperationDefinitionNode,
    variables: Variables,
  ) {
    const given = node.arguments?.find(({ name }) => name.value === argument?.name)?.value;
    this.dependence = given ? findDependence(given, schema, operation) : "document";
    this.#value = given && valueFromASTUntyped(given, withDefaults(operation, variables));
    this.relations = countRelations(argument, this.#value);
  }

  /** Number of elements of all lists in it. */
  get lines(): number {
    return countElements(this.#value);
  }

  /** The rows that its comparisons count as, if it is a filter. */
  get comparisons(): number {
    let rows = this.relations * rowsPerRelation;
    forEachPart(this.#value, (value, name) => {
      if (Array.isArray(value)) rows += value.filter((part) => !isObject(part)).length;
      else if (!isObject(value)) rows += 1;
      if (scanningOperators.has(name)) rows += comparisonRows(name) - (isObject(value) ? 0 : 1);
    });
    return rows;
  }

  /** Returns the number of rows that a list of the payload can have. An omitted input list counts as the longest. */
  payloadRows({ atMost, perLine }: PayloadBound = defaultBound): number {
    let rows = atMost;
    for (const [field, each] of perLine) {
      const list =
        isObject(this.#value) && Object.hasOwn(this.#value, field) ? this.#value[field] : undefined;
      if (list !== undefined && list !== null) rows += each * listLength(list);
      else if (atMost === 0) rows += each * maxPageSize;
    }
    return rows;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Returns the length of a list. A single value stands for a list of one; elements beyond the maximum aren't counted. */
const listLength = (value: unknown): number => Math.min(Array.isArray(value) ? value.length : 1, maxPageSize);

/**
 * Calls `look` for a value and each part of it. Elements of lists have no name. Iterative, because clients may nest input
 * more deeply than recursion allows.
 */
function forEachPart(value: unknown, look: (value: unknown, name: string) => void): void {
  const left: [value: unknown, name: string][] = [[value, ""]];
  for (let next; (next = left.pop());) {
    const [part, name] = next;
    if (part === undefined) continue;
    look(part, name);
    if (Array.isArray(part)) for (const each of part) if (isObject(each)) left.push([each, ""]);
    if (isObject(part) && !Array.isArray(part)) left.push(...swapEntries(part));
  }
}

const swapEntries = (object: Record<string, unknown>): [unknown, string][] =>
  Object.entries(object).map(([name, value]) => [value, name]);

function countElements(value: unknown): number {
  let count = 0;
  forEachPart(value, (part) => {
    if (Array.isArray(part)) count += part.length;
  });
  return count;
}

function findDependence(
  node: ValueNode,
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
): Dependence {
  if (node.kind === Kind.VARIABLE) return isLeaf(node.name.value, schema, operation) ? "given" : "values";
  const parts =
    node.kind === Kind.LIST
      ? node.values
      : node.kind === Kind.OBJECT
        ? node.fields.map(({ value }) => value)
        : [];
  return parts.map((part) => findDependence(part, schema, operation)).reduce(strongerDependence, "document");
}

/** The stronger of two dependences. */
export const strongerDependence = (one: Dependence, other: Dependence): Dependence =>
  one === "values" || other === "values" ? "values" : one === "given" ? one : other;

function isLeaf(
  name: string,
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): boolean {
  let type: TypeNode | undefined = variableDefinitions.find(
    ({ variable }) => variable.name.value === name,
  )?.type;
  if (type?.kind === Kind.NON_NULL_TYPE) type = type.type;
  return type?.kind === Kind.NAMED_TYPE && isLeafType(schema.getType(type.name.value));
}

/** Returns the given variables, and the defaults of others. */
export function withDefaults(
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Variables,
): Variables {
  const defaults = variableDefinitions.flatMap(({ variable: { name }, defaultValue }) =>
    defaultValue && variables[name.value] === undefined
      ? [[name.value, valueFromASTUntyped(defaultValue)]]
      : [],
  );
  return defaults.length > 0 ? { ...variables, ...(Object.fromEntries(defaults) as Variables) } : variables;
}

/** Returns the `first` or `last` of a list, or the default. The list itself refuses invalid ones. */
export function pageSize(node: FieldNode, operation: OperationDefinitionNode, variables: Variables): number {
  const sizes =
    node.arguments?.filter(isSize).map(({ value }) => readSize(value, operation, variables)) ?? [];
  const given = sizes.filter((size) => size !== undefined);
  return given.length > 0 ? Math.max(...given) : defaultPageSize;
}

function readSize(
  given: ValueNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): number | undefined {
  let value: ValueNode | undefined = given;
  let size: unknown;
  if (value?.kind === Kind.VARIABLE) {
    const name = value.name.value;
    size = variables[name];
    value = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name)?.defaultValue;
  }
  if (size === undefined && value?.kind === Kind.INT) size = Number(value.value);
  return typeof size === "number" ? Math.min(Math.max(size, 0), maxPageSize) : undefined;
}

const isSize = ({ name }: ArgumentNode): boolean => name.value === "first" || name.value === "last";

/** Whether the size of a list's page is a variable. */
export const hasVariableSize = ({ arguments: given = [] }: FieldNode): boolean =>
  given.some((argument) => isSize(argument) && argument.value.kind === Kind.VARIABLE);
