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
import { textOfSql } from "./json-text.ts";
import type { GivenIds } from "./ids.ts";
import { describeIds, readIds } from "./ids.ts";
import type { Coerced } from "./selection.ts";
import { NotCovered } from "./selection.ts";
import type { PageRequest, RawPage } from "./page-request.ts";
import { readPage } from "./page-request.ts";
import type { StageValues } from "./cursor-values.ts";
import { describePosition, describeStage, nullsOf } from "./cursor-values.ts";
import { readSearch } from "./search-words.ts";

/** The arguments of one field of an operation in one request. */
export interface Given {
  /** A text that determines the SQL: requests with the same shape have the same SQL. */
  shape: string;
  /** Parameters of the SQL. */
  values: readonly unknown[];
  page?: PageArguments;
  /** The arguments of the function that the field calls, if present in the request. */
  call?: readonly CallValue[];
  /** The ids of `nodes`, by type. */
  nodes?: GivenIds;
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
export type ReadArguments = (variables: Coerced) => Given;

/**
 * Returns a reader for the arguments of a field.
 *
 * The reader throws the same errors for invalid arguments as the field itself.
 */
export function argumentsReader(
  { schema }: { schema: GraphQLSchema },
  source: FieldSource,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): ReadArguments {
  const call = "call" in source ? source.call : undefined;
  const value = valueReaders(field, node, call);
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
  const readCall = callReader(call?.arguments ?? [], value);
  if (source.kind === "function" || source.kind === "returned")
    return (variables) => {
      const values: unknown[] = [];
      return { ...readCall(variables, values), values };
    };
  if (source.kind === "groupedAggregates") {
    const readNames = value("groupBy");
    return (variables) => readGroups(source.groups, readNames(variables) as string[]);
  }
  if (source.kind !== "list") throw new NotCovered(`arguments of ${source.kind}`);
  return listReader(source, value, readCall);
}

type Value = (name: string) => (variables: Coerced) => unknown;

/** Returns a reader for the arguments of a list. */
function listReader(
  source: ListSource,
  value: Value,
  readCall: (variables: Coerced, values: unknown[]) => { shape: string; call: CallValue[] },
): ReadArguments {
  const readers = pageArguments.map((name) => [name, value(name)] as const);
  const readWanted = value("filter");
  const readText = value("search");
  return (variables) => {
    const request = readPage(
      source,
      Object.fromEntries(readers.map(([name, read]) => [name, read(variables)])),
    );
    const wanted = readWanted(variables) as FilterValue | null | undefined;
    const filter = wanted == null ? null : readFilter(source.filterFields!, wanted);
    const values: unknown[] = [];
    const called = readCall(variables, values);
    const { size, isBackward, order } = request;
    const after = request.after && describePosition(order, request.after, values);
    const before = request.before && describeStage(order, request.before.at(-1)!, values);
    const text = readText(variables) as string | null | undefined;
    const search = text == null ? null : values.push(listCodec.toPg(readSearch(text))) - 1;
    const filterIndex = values.length;
    const form = `${after?.shape ?? ""}${before ? `b${nullsOf(before)}` : ""}${search === null ? "" : "s"}`;
    const direction = `${isBackward ? "-" : ""}${order.isDefault ? "" : `${order.name} `}`;
    const shape = `${called.shape}${direction}${size}${form}${describe(filter, values)}`;
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
    return { shape, values, page, call: called.call };
  };
}

const pageArguments = ["first", "last", "after", "before", "orderBy"] satisfies (keyof RawPage)[];
const knownArguments = new Set<string>(["id", "ids", "filter", "search", "groupBy", ...pageArguments]);

const listCodec = listOfCodec(TYPES.text);

/** Returns a reader for the arguments of a function. The reader appends their values. */
function callReader(called: FunctionCall["arguments"], value: Value) {
  const readers = called.map((argument) => [argument, value(argument.fieldName)] as const);
  return (variables: Coerced, values: unknown[]): { shape: string; call: CallValue[] } => {
    const given = readers.flatMap(([argument, read], number) => {
      const found = readArgument(argument, read(variables));
      if (!found) return [];
      const index = values.push(found.value) - 1;
      return [{ number, name: found.name, type: textOfSql(found.type), index }];
    });
    return { shape: readers.length > 0 ? `(${given.map(({ number }) => number).join()})` : "", call: given };
  };
}

/** Returns a function that makes a reader for an argument of a field, by name. */
function valueReaders(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  call: FunctionCall | undefined,
) {
  const called = new Set(call?.arguments.map(({ fieldName }) => fieldName));
  const given = new Map(node.arguments?.map((argument) => [argument.name.value, argument]));
  for (const { name, defaultValue } of field.args) {
    const matters = given.has(name) || defaultValue !== undefined;
    if (matters && !knownArguments.has(name) && !called.has(name)) throw new NotCovered(`argument ${name}`);
  }
  return (name: string) => {
    const definition = field.args.find((argument) => argument.name === name);
    return definition ? valueReader(definition, given.get(name)) : () => undefined;
  };
}

function valueReader(
  { type, defaultValue }: GraphQLField<unknown, unknown>["args"][number],
  argument: ArgumentNode | undefined,
): (variables: Coerced) => unknown {
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

function readGroups(groups: Groups, names: readonly string[]): Given {
  return { shape: `(${names.join()})`, values: [], groups: names.map((name) => groups.get(name)!) };
}

/** Returns the shape of a filter, and appends its values. */
function describe(tree: FilterTree, values: unknown[]): string {
  if (tree === null) return "";
  if (tree.kind === "not") return `!(${describe(tree.tree, values)})`;
  if (tree.kind === "related") return `${tree.name}.${tree.quantifier}(${describe(tree.tree, values)})`;
  if (tree.kind !== "comparison") {
    const sign = tree.kind === "and" ? "&" : "|";
    return `${sign}(${tree.trees.map((inner) => describe(inner, values)).join()})`;
  }
  const { column, name, flag, parameters } = tree.comparison;
  for (const { value } of parameters) values.push(value);
  return `${column.name}.${name}${flag ?? parameters.length}`;
}
