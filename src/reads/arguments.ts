import { listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { ArgumentNode, FieldNode, GraphQLField, GraphQLSchema, ValueNode } from "postgraphile/graphql";
import { getNamedType, Kind, valueFromAST } from "postgraphile/graphql";
import type { Group, Groups } from "./aggregation.ts";
import type { FilterTree, FilterValue } from "./filter-conditions.ts";
import { readFilter } from "./filter-conditions.ts";
import { requireGlobalId, requireKey } from "../graphql/global-id.ts";
import type { FieldSource, ListSource } from "./field-source.ts";
import type { FunctionCall } from "./function-call.ts";
import { readArgument } from "./function-call.ts";
import { toSqlText } from "./json-text.ts";
import type { IdsByType } from "./ids.ts";
import { describeIds, readIds } from "./ids.ts";
import type { CoercedVariables } from "./selection.ts";
import { UnsupportedOperation } from "./selection.ts";
import type { PageRequest, RawPage } from "./page-request.ts";
import { readPage } from "./page-request.ts";
import type { StageValues } from "./cursor-values.ts";
import { describePosition, describeStage, describeNulls } from "./cursor-values.ts";
import { readSearch } from "./search-words.ts";

/** The arguments of one field of an operation in one request. */
export interface FieldArguments {
  /** A text that determines the SQL: requests with the same shape have the same SQL. */
  shape: string;
  /** Parameters of the SQL. */
  values: readonly unknown[];
  page?: PageArguments;
  /** The arguments of the function that the field calls, if present in the request. */
  call?: readonly CallValue[];
  /** The ids of `nodes`, by type. */
  nodes?: IdsByType;
  /** The columns that rows are grouped by. */
  groups?: readonly Group[];
  /** The type named in the id of `node`. */
  typeName?: string;
}

/** An argument of a function: its name and type in SQL, and the index of its value. */
export interface CallValue {
  name: string;
  type: string;
  index: number;
}

/** The arguments of a list. Values of cursors come first, if there are any, then the values of the filter. */
export interface PageArguments extends Pick<PageRequest, "size" | "isBackward" | "order"> {
  /** The stages of the cursor; null without one. */
  after: readonly StageValues[] | null;
  before: StageValues | null;
  filter: FilterTree;
  /** Index of the patterns of a search; null without one. */
  search: number | null;
  /** Index of the filter's first value. */
  filterIndex: number;
}

/** Reads the arguments of one field from the variables of a request. */
export type ReadArguments = (variables: CoercedVariables) => FieldArguments;

/**
 * Returns a reader for the arguments of a field.
 *
 * The reader throws the same errors for invalid arguments as the field itself.
 */
export function createArgumentsReader(
  { schema }: { schema: GraphQLSchema },
  source: FieldSource,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): ReadArguments {
  const call = "call" in source ? source.call : undefined;
  const value = createValueReaders(field, node, call);
  const keyOf = schema.extensions.keyOf!;
  if (source.kind === "row") {
    const { name: typeName } = getNamedType(field.type);
    const key = keyOf(typeName)!;
    return (variables) => ({ shape: "", values: requireKey(typeName, key, value("id")(variables)) });
  }
  if (source.kind === "node") {
    return (variables) => {
      const { typeName, values } = requireGlobalId(value("id")(variables), keyOf);
      return { shape: typeName, values, typeName };
    };
  }
  if (source.kind === "nodes")
    return (variables) => describeIds(readIds(value("ids")(variables) as string[], keyOf));
  const readCall = createCallReader(call?.arguments ?? [], value);
  if (source.kind === "function" || source.kind === "returned")
    return (variables) => {
      const values: unknown[] = [];
      return { ...readCall(variables, values), values };
    };
  if (source.kind === "groupedAggregates") {
    const readNames = value("groupBy");
    return (variables) => readGroups(source.groups, readNames(variables) as string[]);
  }
  if (source.kind !== "list") throw new UnsupportedOperation(`arguments of ${source.kind}`);
  return createListReader(source, value, readCall);
}

type ReaderByName = (name: string) => (variables: CoercedVariables) => unknown;

/** Returns a reader for the arguments of a list. */
function createListReader(
  source: ListSource,
  value: ReaderByName,
  readCall: (variables: CoercedVariables, values: unknown[]) => { shape: string; call: CallValue[] },
): ReadArguments {
  const readers = pageArguments.map((name) => [name, value(name)] as const);
  const readFilterValue = value("filter");
  const readText = value("search");
  return (variables) => {
    const request = readPage(
      source,
      Object.fromEntries(readers.map(([name, read]) => [name, read(variables)])),
    );
    const filterValue = readFilterValue(variables) as FilterValue | null | undefined;
    const filter = filterValue == null ? null : readFilter(source.filterFields!, filterValue);
    const values: unknown[] = [];
    const call = readCall(variables, values);
    const { size, isBackward, order } = request;
    const after = request.after && describePosition(order, request.after, values);
    const before = request.before && describeStage(order, request.before.at(-1)!, values);
    const text = readText(variables) as string | null | undefined;
    const search = text == null ? null : values.push(listCodec.toPg(readSearch(text))) - 1;
    const filterIndex = values.length;
    const form = `${after?.shape ?? ""}${before ? `b${describeNulls(before)}` : ""}${search === null ? "" : "s"}`;
    const direction = `${isBackward ? "-" : ""}${order.isDefault ? "" : `${order.name} `}`;
    const shape = `${call.shape}${direction}${size}${form}${describeFilter(filter, values)}`;
    const page = {
      size,
      isBackward,
      order,
      after: after?.stages ?? null,
      before,
      search,
      filter,
      filterIndex,
    };
    return { shape, values, page, call: call.call };
  };
}

const pageArguments = ["first", "last", "after", "before", "orderBy"] satisfies (keyof RawPage)[];
const knownArguments = new Set<string>(["id", "ids", "filter", "search", "groupBy", ...pageArguments]);

const listCodec = listOfCodec(TYPES.text);

/** Returns a reader for the arguments of a function. The reader appends their values. */
function createCallReader(parameters: FunctionCall["arguments"], value: ReaderByName) {
  const readers = parameters.map((argument) => [argument, value(argument.fieldName)] as const);
  return (variables: CoercedVariables, values: unknown[]): { shape: string; call: CallValue[] } => {
    const present = readers.flatMap(([argument, read], number) => {
      const found = readArgument(argument, read(variables));
      if (!found) return [];
      const index = values.push(found.value) - 1;
      return [{ number, name: found.name, type: toSqlText(found.type), index }];
    });
    return {
      shape: readers.length > 0 ? `(${present.map(({ number }) => number).join()})` : "",
      call: present,
    };
  };
}

/** Returns a function that makes a reader for an argument of a field, by name. */
function createValueReaders(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  call: FunctionCall | undefined,
) {
  const functionArguments = new Set(call?.arguments.map(({ fieldName }) => fieldName));
  const nodes = new Map(node.arguments?.map((argument) => [argument.name.value, argument]));
  for (const { name, defaultValue } of field.args) {
    const matters = nodes.has(name) || defaultValue !== undefined;
    if (matters && !knownArguments.has(name) && !functionArguments.has(name))
      throw new UnsupportedOperation(`argument ${name}`);
  }
  return (name: string) => {
    const definition = field.args.find((argument) => argument.name === name);
    return definition ? createValueReader(definition, nodes.get(name)) : () => undefined;
  };
}

function createValueReader(
  { type, defaultValue }: GraphQLField<unknown, unknown>["args"][number],
  argument: ArgumentNode | undefined,
): (variables: CoercedVariables) => unknown {
  if (!argument) return () => defaultValue;
  const { value } = argument;
  if (value.kind === Kind.VARIABLE) {
    const name = value.name.value;
    return (variables) => (variables[name] === undefined ? defaultValue : variables[name]);
  }
  if (hasVariables(value)) return (variables) => valueFromAST(value, type, variables);
  const constant: unknown = valueFromAST(value, type);
  return () => constant;
}

function hasVariables(value: ValueNode): boolean {
  if (value.kind === Kind.VARIABLE) return true;
  if (value.kind === Kind.LIST) return value.values.some(hasVariables);
  return value.kind === Kind.OBJECT && value.fields.some((field) => hasVariables(field.value));
}

function readGroups(groups: Groups, names: readonly string[]): FieldArguments {
  return { shape: `(${names.join()})`, values: [], groups: names.map((name) => groups.get(name)!) };
}

/** Returns the shape of a filter, and appends its values. */
function describeFilter(tree: FilterTree, values: unknown[]): string {
  if (tree === null) return "";
  if (tree.kind === "not") return `!(${describeFilter(tree.tree, values)})`;
  if (tree.kind === "related") return `${tree.name}.${tree.quantifier}(${describeFilter(tree.tree, values)})`;
  if (tree.kind !== "comparison") {
    const sign = tree.kind === "and" ? "&" : "|";
    return `${sign}(${tree.trees.map((inner) => describeFilter(inner, values)).join()})`;
  }
  const { column, name, flag, parameters } = tree.comparison;
  for (const { value } of parameters) values.push(value);
  return `${column.name}.${name}${flag ?? parameters.length}`;
}
