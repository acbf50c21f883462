import type {} from "postgraphile";
import type { GrafastExecutionArgs } from "postgraphile/grafast";
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
import { apiError } from "../src/errors.ts";
import { defaultPageSize, maximalPageSize } from "./connections.ts";
import type { Variables } from "./operation.ts";
import { findOperation, isLeftOut } from "./operation.ts";

/** How much an operation asks for at most. */
export interface OperationSize {
  /** Fields below one another. */
  depth: number;
  /** Relations and lists, fragments counted each time they are spread. Postgres plans a join for each. */
  relations: number;
  /** Rows that the answer can hold, reckoned from `first`. */
  rows: number;
}

/** What an operation may ask for. Beyond it, one request could occupy Postgres or fill the memory of a process. */
export const maximalSize: OperationSize = { depth: 12, relations: 100, rows: 100_000 };

const nothing: OperationSize = { depth: 0, relations: 0, rows: 0 };

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
  return typeof size === "number" ? Math.min(Math.max(size, 0), maximalPageSize) : defaultPageSize;
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
  const measured = new Map<SelectionSetNode, OperationSize>();

  const measureField = (type: GraphQLNamedType | null | undefined, node: FieldNode): OperationSize => {
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[node.name.value] : undefined;
    if (!field) return nothing; // __typename, and introspection at the root
    if (!node.selectionSet) return { ...nothing, depth: 1 };
    const target = getNamedType(field.type);
    const { depth, relations, rows } = measure(target, node.selectionSet);
    const isList = target.name.endsWith("Connection");
    // The lists in payloads of mutations have no pages; their length is limited by that of the input
    const others = isListType(getNullableType(field.type)) ? maximalPageSize : 1;
    const times = isList ? pageSize(node, operation, variables) : others;
    // The node of an edge is the row that its list has counted
    if ((!isList && !isEntity(target)) || type!.name.endsWith("Edge"))
      return { depth: depth + 1, relations, rows };
    return { depth: depth + 1, relations: relations + 1, rows: times * (rows + 1) };
  };

  const measure = (type: GraphQLNamedType | null | undefined, set: SelectionSetNode): OperationSize => {
    const known = measured.get(set);
    if (known) return known;
    const sum = { ...nothing };
    for (const node of set.selections) {
      if (isLeftOut(node, operation, variables)) continue;
      let part = nothing;
      if (node.kind === Kind.FIELD) part = measureField(type, node);
      else {
        const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
        const condition = fragment?.typeCondition?.name.value;
        if (fragment) part = measure(condition ? schema.getType(condition) : type, fragment.selectionSet);
      }
      sum.depth = Math.max(sum.depth, part.depth);
      sum.relations += part.relations;
      sum.rows += part.rows;
    }
    measured.set(set, sum);
    return sum;
  };
  return measure(schema.getRootType(operation.operation), operation.selectionSet);
}

function isEntity(type: GraphQLNamedType): boolean {
  return isInterfaceType(type) || (isObjectType(type) && type.getInterfaces().length > 0);
}

/** Why an operation is refused for its size; null when it is not. */
export function sizeRefusal({
  schema,
  document,
  operationName,
  variableValues,
}: Pick<
  GrafastExecutionArgs,
  "schema" | "document" | "operationName" | "variableValues"
>): GraphQLError | null {
  const { depth, relations, rows } = operationSize(schema, document, operationName, variableValues ?? {});
  if (depth > maximalSize.depth) {
    const message = `The operation is ${depth} fields deep; ${maximalSize.depth} are allowed.`;
    return apiError("QUERY_TOO_DEEP", message, { depth, maximum: maximalSize.depth });
  }
  if (relations > maximalSize.relations) {
    const message = `The operation follows ${relations} relations and lists; ${maximalSize.relations} are allowed.`;
    return apiError("QUERY_TOO_COMPLEX", message, { relations, maximum: maximalSize.relations });
  }
  if (rows > maximalSize.rows) {
    const message = `The answer could hold ${rows} rows; ${maximalSize.rows} are allowed. Ask for smaller pages.`;
    return apiError("QUERY_TOO_COMPLEX", message, { rows, maximum: maximalSize.rows });
  }
  return null;
}

/** Refuses an operation that asks for too much, before it is planned. */
export const OperationSizePlugin: GraphileConfig.Plugin = {
  name: "OperationSizePlugin",
  description:
    "Refuses operations that are too deep, follow too many relations, or could answer too many rows",
  version: "1.0.0",
  grafast: {
    middleware: {
      execute(next, { args }) {
        const refusal = sizeRefusal(args);
        return refusal ? { errors: [refusal] } : next();
      },
    },
  },
};
