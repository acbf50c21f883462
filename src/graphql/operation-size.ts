import type {
  FieldNode,
  GraphQLField,
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
} from "postgraphile/graphql";
import { memoizeByObject, getOrMake } from "../lib/remembered.ts";
import { maxPageSize } from "./page-size.ts";
import type { Part, Variables, WalkedOperation } from "./operation.ts";
import { findField, findOperation, listParts } from "./operation.ts";
import type { Dependence } from "./given-argument.ts";
import { ArgumentSize, hasVariableSize, pageSize, strongerDependence } from "./given-argument.ts";

/** Size of an operation. */
export interface OperationSize {
  /** Depth: fields within fields. */
  depth: number;
  /** Relations and lists, fragments counted each time they are spread. */
  relations: number;
  /**
   * Rows that the response can have, by `first` and inputs; plus elements of input lists, and the rows that comparisons of
   * filters count as.
   */
  rows: number;
  /** Selected fields of the current row that aren't relations. */
  values: number;
  /** How often the current list is counted; an aggregate counts several times. */
  counts: number;
  mutations: number;
}

/** Fields of a row per additional row that they count as. */
const valuesPerRow = 25;
/** Rows that a search counts as: it finds at most 10,000, in 25 ms. */
const rowsPerSearch = 50;

type Field = GraphQLField<unknown, unknown>;
type Measured = Map<SelectionSetNode, OperationSize>;

const nothing: OperationSize = { depth: 0, relations: 0, rows: 0, values: 0, counts: 0, mutations: 0 };

/** Rows that counting a list counts as. */
const rowsPerCount = 50;
/** Aggregates read up to ten times as many rows as a count, and groups are sorted. */
const figuresPerCount = 10;
const countsByField: Readonly<Record<string, number>> = { aggregates: 4, groupedAggregates: 6 };

// Most operations have their page sizes in the document, so their size depends only on which variables are given
const known = memoizeByObject<GraphQLSchema, WeakMap<OperationDefinitionNode, KnownSizes>>(
  () => new WeakMap(),
);

type KnownSizes = Map<number | "always", OperationSize>;
/** Maximum cached sizes per operation: clients may send ever new variables. */
const maxKnownSizes = 8;

/** Returns a bit per variable, set if it is given; null if there are more variables than bits. */
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
 * Measures an operation before it is planned. Introspection isn't counted here.
 *
 * Each selection set is measured once, however often fragments spread it, so the work is limited by the length of the
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
  const sizes = getOrMake(known(schema), operation, (): KnownSizes => new Map());
  const given = givenVariables(operation, variables);
  const same = sizes.get("always") ?? (given === null ? undefined : sizes.get(given));
  if (same) return same;
  const { size, dependence } = new Measurement({ schema, fragments, operation, variables });
  const key = dependence === "document" ? "always" : dependence === "given" ? given : null;
  if (key !== null && sizes.size < maxKnownSizes) sizes.set(key, size);
  return size;
}

/** The input of a mutation, and the measurements of its payload. */
interface Payload {
  input: ArgumentSize;
  measured: Measured;
}

/** One walk over an operation. */
class Measurement {
  readonly size: OperationSize;
  /** Dependence of the size on variables. */
  dependence: Dependence = "document";
  readonly #walked: WalkedOperation;
  readonly #shared: Measured = new Map();

  constructor(walked: WalkedOperation) {
    this.#walked = walked;
    const { schema, operation } = walked;
    this.size = this.#measureSet(schema.getRootType(operation.operation), operation.selectionSet);
  }

  // Only the payload's own fields depend on the input; selections below them have the same size everywhere
  #measureSet(from: Part["type"], selections: SelectionSetNode, payload?: Payload): OperationSize {
    const measured = payload?.measured ?? this.#shared;
    const earlier = measured.get(selections);
    if (earlier) return earlier;
    if (selections.selections.some(({ directives }) => directives?.length)) this.dependence = "values";
    const sum = { ...nothing };
    for (const { type, field, set } of listParts(this.#walked, from, selections)) {
      const part = set
        ? this.#measureSet(type, set, payload)
        : this.#measureField(type, field, payload?.input);
      sum.depth = Math.max(sum.depth, part.depth);
      sum.relations += part.relations;
      sum.rows += part.rows;
      sum.values += part.values;
      sum.counts += part.counts;
      sum.mutations += part.mutations;
    }
    measured.set(selections, sum);
    return sum;
  }

  #measureField(type: Part["type"], node: FieldNode, input: ArgumentSize | undefined): OperationSize {
    const field = findField(type, node);
    if (!field) return nothing;
    const size = this.#measureFound(type, field, node, input);
    return { ...size, rows: size.rows + (field.extensions.rowsPerCall ?? 0) };
  }

  #measureFound(type: Part["type"], field: Field, node: FieldNode, input?: ArgumentSize): OperationSize {
    const { schema, operation, variables } = this.#walked;
    const target = getNamedType(field.type);
    if (type === schema.getMutationType()) return this.#measureMutation(field, node);
    if (!node.selectionSet) return { ...nothing, depth: 1, values: 1 };
    const { depth, relations, rows, values, counts } = this.#measureSet(target, node.selectionSet);
    const isAggregate = type!.name.endsWith("Connection") && target.name.endsWith("Aggregates");
    if (isAggregate)
      return {
        ...nothing,
        depth: depth + 1,
        counts: countsByField[node.name.value]! * (1 + Math.floor(values / figuresPerCount)),
      };
    if (target.name === "TotalCount") return { ...nothing, depth: depth + 1, values, counts: 1 };
    const isList = target.name.endsWith("Connection");
    // Lists in payloads of mutations have no pages
    const isOther = isListType(getNullableType(field.type));
    const others = isOther
      ? (input?.payloadRows(field.extensions.payloadBound) ?? this.#countIds(field, node))
      : 1;
    const times = isList ? pageSize(node, operation, variables) : others;
    if (isList && hasVariableSize(node)) this.dependence = "values";
    const filter = isList ? this.#measureFilter(field, node) : null;
    const compared = filter ? filter.rows + counts * rowsPerCount : 0;
    // The node of an edge is a row that its list has counted
    if ((!isList && !isEntity(target)) || type!.name.endsWith("Edge"))
      return { ...nothing, depth: depth + 1, relations, rows, values };
    const ofRow = 1 + Math.floor(values / valuesPerRow);
    return {
      ...nothing,
      depth: depth + 1,
      relations: relations + 1 + (filter?.relations ?? 0),
      rows: times * (rows + ofRow) + compared,
    };
  }

  #measureMutation(field: Field, node: FieldNode): OperationSize {
    const input = this.#argument(field, node, "input");
    if (input.dependence !== "document") this.dependence = "values";
    const part = node.selectionSet
      ? this.#measureSet(getNamedType(field.type), node.selectionSet, { input, measured: new Map() })
      : nothing;
    return { ...part, depth: part.depth + 1, rows: part.rows + input.lines, mutations: 1 };
  }

  /** Returns the number of ids that a field looks up. */
  #countIds(field: Field, node: FieldNode): number {
    if (!node.arguments?.some(({ name }) => name.value === "ids")) return maxPageSize;
    const ids = this.#argument(field, node, "ids");
    if (ids.dependence !== "document") this.dependence = "values";
    return Math.min(Math.max(ids.lines, 1), maxPageSize);
  }

  /** Measures a list's filter and search: the rows that they count as, and the relations that the filter follows. */
  #measureFilter(field: Field, node: FieldNode): { rows: number; relations: number } {
    const given = new Set(node.arguments?.map(({ name }) => name.value));
    const searched = given.has("search") ? rowsPerSearch : 0;
    if (!given.has("filter")) return { rows: searched, relations: 0 };
    const { dependence, comparisons, relations } = this.#argument(field, node, "filter");
    this.dependence = strongerDependence(this.dependence, dependence);
    return { rows: searched + comparisons, relations };
  }

  #argument({ args }: Field, node: FieldNode, name: string): ArgumentSize {
    const argument = args.find((each) => each.name === name);
    const { schema, operation, variables } = this.#walked;
    return new ArgumentSize(schema, node, argument, operation, variables);
  }
}

function isEntity(type: GraphQLNamedType): boolean {
  return isInterfaceType(type) || (isObjectType(type) && type.getInterfaces().length > 0);
}
