import type {
  FieldNode,
  GraphQLError,
  GraphQLNamedType,
  GraphQLSchema,
  DocumentNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from "postgraphile/graphql";
import {
  getNamedType,
  getNullableType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
} from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import { defaultPageSize, maxPageSize } from "./page-size.ts";
import type { Variables } from "./operation.ts";
import { findOperation, isLeftOut } from "./operation.ts";
import type { Dependence } from "./given-argument.ts";
import { GivenArgument, stronger } from "./given-argument.ts";
import type { Limits } from "./limits.ts";

/** How much an operation asks for. */
export interface OperationSize {
  /** Fields below one another. */
  depth: number;
  /** Relations and lists, fragments counted each time they are spread. */
  relations: number;
  /**
   * Rows that the answer can hold, reckoned from `first` and inputs; what lists of inputs have in them; and comparisons of
   * filters, as many rows as they weigh.
   */
  rows: number;
  /** Fields of the row that it is about which are no relations. */
  values: number;
  mutations: number;
}

const pointsPerMutation = 10;
const rowsPerPoint = 10;
/** Values that a row may have; so many more count as another row. */
const valuesPerRow = 25;

/**
 * What an operation costs, in points: one for each relation or list, and for every ten rows that it gives or can be
 * answered, ten for each mutation.
 */
export function costOf({
  relations,
  rows,
  mutations,
}: Pick<OperationSize, "relations" | "rows" | "mutations">): number {
  return Math.max(1, relations + Math.ceil(rows / rowsPerPoint) + mutations * pointsPerMutation);
}

type Measured = Map<SelectionSetNode, OperationSize>;

const nothing: OperationSize = { depth: 0, relations: 0, rows: 0, values: 0, mutations: 0 };

/** The `first` of a list. One that is no page size counts as one: the list itself will refuse it. */
function pageSize(node: FieldNode, operation: OperationDefinitionNode, variables: Variables): number {
  let value = node.arguments?.find(({ name }) => name.value === "first")?.value;
  let size: unknown;
  if (value?.kind === Kind.VARIABLE) {
    const name = value.name.value;
    size = variables[name];
    value = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name)?.defaultValue;
  }
  if (size === undefined && value?.kind === Kind.INT) size = Number(value.value);
  return typeof size === "number" ? Math.min(Math.max(size, 0), maxPageSize) : defaultPageSize;
}

// Most operations have their page sizes in the document, and so the same size whenever the same variables are given
const known = new WeakMap<GraphQLSchema, WeakMap<OperationDefinitionNode, KnownSizes>>();

type KnownSizes = Map<number | "always", OperationSize>;
/** Sizes of an operation that are kept: it may be sent with ever other variables. */
const maxKnownSizes = 8;

/** Which variables are given, a bit for each; null when there are more variables than bits. */
function givenVariables(
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Variables,
): number | null {
  if (variableDefinitions.length > 31) return null;
  let bits = 0;
  for (const { variable } of variableDefinitions)
    bits = (bits << 1) | (variables[variable.name.value] === undefined ? 0 : 1);
  return bits;
}

/**
 * Measures an operation before it is planned. Introspection counts nothing.
 *
 * Each selection set is measured once, however often fragments spread it, so the work is bounded by the length of the
 * document.
 */
export function operationSize(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): OperationSize {
  const { fragments, operation } = findOperation(document, operationName);
  if (!operation) return nothing;
  let sizes = known.get(schema);
  if (!sizes) known.set(schema, (sizes = new WeakMap()));
  const before = sizes.get(operation);
  const given = givenVariables(operation, variables);
  const same = before?.get("always") ?? (given === null ? undefined : before?.get(given));
  if (same) return same;
  const shared: Measured = new Map();
  let dependence: Dependence = "document";

  const measureMutation = (target: GraphQLNamedType, node: FieldNode): OperationSize => {
    const input = new GivenArgument(schema, node, "input", operation, variables);
    dependence = stronger(dependence, input.dependence === "document" ? "document" : "values");
    const part = node.selectionSet
      ? measure(target, node.selectionSet, { input, measured: new Map() })
      : nothing;
    return { ...part, depth: part.depth + 1, rows: part.rows + input.lines, mutations: 1 };
  };

  const comparisons = (node: FieldNode): number => {
    if (!node.arguments?.some(({ name }) => name.value === "filter")) return 0;
    const filter = new GivenArgument(schema, node, "filter", operation, variables);
    dependence = stronger(dependence, filter.dependence);
    return filter.comparisons;
  };

  const measureField = (
    type: GraphQLNamedType | null | undefined,
    node: FieldNode,
    input: GivenArgument | undefined,
  ): OperationSize => {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
    if (!field) return nothing; // __typename, and introspection at the root
    const target = getNamedType(field.type);
    if (type === schema.getMutationType()) return measureMutation(target, node);
    if (!node.selectionSet) return { ...nothing, depth: 1, values: 1 };
    const { depth, relations, rows, values } = measure(target, node.selectionSet);
    const isList = target.name.endsWith("Connection");
    // The lists in payloads of mutations have no pages
    const isOther = isListType(getNullableType(field.type));
    const others = isOther ? (input?.rowsWithin(field.extensions.payloadBound) ?? maxPageSize) : 1;
    const times = isList ? pageSize(node, operation, variables) : others;
    if (isList && hasVariable(node)) dependence = "values";
    const compared = isList ? comparisons(node) : 0;
    // The node of an edge is the row that its list has counted
    if ((!isList && !isEntity(target)) || type!.name.endsWith("Edge"))
      return { ...nothing, depth: depth + 1, relations, rows, values };
    const ofRow = 1 + Math.floor(values / valuesPerRow);
    return {
      ...nothing,
      depth: depth + 1,
      relations: relations + 1,
      rows: times * (rows + ofRow) + compared,
    };
  };

  // Only the fields of a payload itself depend on the input; whatever is below is the same everywhere
  const measure = (
    type: GraphQLNamedType | null | undefined,
    set: SelectionSetNode,
    payload?: { input: GivenArgument; measured: Measured },
  ): OperationSize => {
    const measured = payload?.measured ?? shared;
    const earlier = measured.get(set);
    if (earlier) return earlier;
    const sum = { ...nothing };
    for (const node of set.selections) {
      if (node.directives?.length) dependence = "values";
      if (isLeftOut(node, operation, variables)) continue;
      let part = nothing;
      if (node.kind === Kind.FIELD) part = measureField(type, node, payload?.input);
      else {
        const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
        const condition = fragment?.typeCondition?.name.value;
        if (fragment)
          part = measure(condition ? schema.getType(condition) : type, fragment.selectionSet, payload);
      }
      sum.depth = Math.max(sum.depth, part.depth);
      sum.relations += part.relations;
      sum.rows += part.rows;
      sum.values += part.values;
      sum.mutations += part.mutations;
    }
    measured.set(set, sum);
    return sum;
  };
  const size = measure(schema.getRootType(operation.operation), operation.selectionSet);
  const key = dependence === "document" ? "always" : dependence === "given" ? given : null;
  if (key !== null && (before?.size ?? 0) < maxKnownSizes) {
    if (before) before.set(key, size);
    else sizes.set(operation, new Map([[key, size]]));
  }
  return size;
}

const hasVariable = ({ arguments: given = [] }: FieldNode): boolean =>
  given.some(({ name, value }) => name.value === "first" && value.kind === Kind.VARIABLE);

function isEntity(type: GraphQLNamedType): boolean {
  return isInterfaceType(type) || (isObjectType(type) && type.getInterfaces().length > 0);
}

/** Why an operation asks for too much; null when it doesn't. */
export function refusalOf(size: OperationSize, limits: Limits): GraphQLError | null {
  const { depth, relations, mutations } = size;
  if (depth > limits.depth) {
    const message = `The operation is ${depth} fields deep; ${limits.depth} are allowed.`;
    return apiError("QUERY_TOO_DEEP", message, { depth, maximum: limits.depth });
  }
  if (relations > limits.relations) {
    const message = `The operation follows ${relations} relations and lists; ${limits.relations} are allowed.`;
    return apiError("QUERY_TOO_COMPLEX", message, { relations, maximum: limits.relations });
  }
  if (mutations > limits.mutations) {
    const message = `The operation has ${mutations} mutations; ${limits.mutations} are allowed.`;
    return apiError("QUERY_TOO_COMPLEX", message, { mutations, maximum: limits.mutations });
  }
  return null;
}

/** Why an operation of this cost is refused; null when it isn't. */
export function refusalOfCost(cost: number, limits: Limits): GraphQLError | null {
  if (cost <= limits.cost) return null;
  const message = `The operation costs ${cost} points; ${limits.cost} are allowed. Ask for smaller pages.`;
  return apiError("QUERY_TOO_COMPLEX", message, { cost, maximum: limits.cost });
}
