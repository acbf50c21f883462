import type {
  FieldNode,
  FragmentDefinitionNode,
  GraphQLNamedType,
  GraphQLObjectType,
  SelectionSetNode,
} from "postgraphile/graphql";
import { getNamedType, isObjectType, Kind, OperationTypeNode } from "postgraphile/graphql";
import { findField } from "../graphql/operation.ts";
import type { FieldArguments, ReadArguments } from "./arguments.ts";
import { createArgumentsReader } from "./arguments.ts";
import type { FieldSource } from "./field-source.ts";
import { findSource } from "./field-source.ts";
import type { CoercedVariables, ReadableOperation } from "./selection.ts";
import { UnsupportedOperation } from "./selection.ts";

/** An operation with readers of its arguments, prepared once for each document. */
export interface PreparedOperation extends ReadableOperation {
  readers: readonly [FieldNode, ReadArguments][];
}

/** Kinds of fields whose arguments change the statement. */
const kindsWithArguments = new Set<FieldSource["kind"]>([
  "list",
  "row",
  "node",
  "nodes",
  "function",
  "returned",
  "groupedAggregates",
]);

/** Prepares a query. @throws {UnsupportedOperation} when the operation isn't a query, or contains an unknown field */
export function prepareOperation(operation: ReadableOperation): PreparedOperation {
  if (operation.definition.operation !== OperationTypeNode.QUERY) throw new UnsupportedOperation("no query");
  return prepareFields(operation, operation.schema.getQueryType()!);
}

/** Prepares all fields of an operation. @throws {UnsupportedOperation} when it contains an unknown field */
export function prepareFields(operation: ReadableOperation, root: GraphQLObjectType): PreparedOperation {
  const { schema, definition, fragments } = operation;
  if (definition.directives?.length) throw new UnsupportedOperation("directives");
  const readers: [FieldNode, ReadArguments][] = [];
  const visited = new Set<FragmentDefinitionNode>();

  const visit = (type: GraphQLNamedType | undefined, set: SelectionSetNode): void => {
    for (const node of set.selections) {
      const other = node.directives?.find(({ name }) => name.value !== "skip" && name.value !== "include");
      if (other) throw new UnsupportedOperation(`@${other.name.value}`);
      if (node.kind === Kind.FIELD) visitField(type, node);
      else if (node.kind === Kind.INLINE_FRAGMENT) {
        const condition = node.typeCondition?.name.value;
        visit(condition ? schema.getType(condition) : type, node.selectionSet);
      } else {
        const fragment = fragments.get(node.name.value);
        if (!fragment || visited.has(fragment)) continue;
        visited.add(fragment);
        visit(schema.getType(fragment.typeCondition.name.value), fragment.selectionSet);
      }
    }
  };
  const visitField = (type: GraphQLNamedType | undefined, node: FieldNode): void => {
    const name = node.name.value;
    if (name === "__typename") return;
    const field = findField(type, node);
    if (!field) throw new UnsupportedOperation(name);
    const target = getNamedType(field.type);
    // Interfaces have only the field `id`, and their types have it too
    const source = isObjectType(type) ? findSource(field) : undefined;
    if (isObjectType(type) && !source) throw new UnsupportedOperation(`${type.name}.${name}`);
    if (source && kindsWithArguments.has(source.kind)) {
      readers.push([node, createArgumentsReader(operation, source, field, node)]);
    } else if (node.arguments?.length && source?.kind !== "mutation")
      throw new UnsupportedOperation(`arguments of ${name}`);
    if (node.selectionSet && source?.kind !== "value") visit(target, node.selectionSet);
  };
  visit(root, definition.selectionSet);
  return { ...operation, readers };
}

/**
 * Reads a request's arguments for the fields of an operation. Also returns a key that determines the SQL.
 *
 * @param flags the variables in @skip and @include
 */
export function readRequest(
  { readers }: PreparedOperation,
  flags: readonly string[],
  variables: CoercedVariables,
): { key: string; fieldArguments: Map<FieldNode, FieldArguments> } {
  let key = "";
  for (const flag of flags) key += variables[flag] === true ? "1" : variables[flag] === false ? "0" : "n";
  const fieldArguments = new Map<FieldNode, FieldArguments>();
  for (const [node, read] of readers) {
    const fieldArgument = read(variables);
    fieldArguments.set(node, fieldArgument);
    key += `;${fieldArgument.shape}`;
  }
  return { key, fieldArguments };
}
