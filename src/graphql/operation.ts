import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLField,
  GraphQLNamedType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
  ValueNode,
} from "postgraphile/graphql";
import { isInterfaceType, isObjectType, Kind } from "postgraphile/graphql";

/** Values of variables, as the request has them. */
export type Variables = Readonly<Record<string, unknown>>;

/** Finds the requested operation, and the fragments of its document. */
export function findOperation(document: DocumentNode, operationName: string | null | undefined) {
  const fragments = new Map<string, FragmentDefinitionNode>();
  let operation: OperationDefinitionNode | undefined;
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    const isOperation = definition.kind === Kind.OPERATION_DEFINITION;
    if (isOperation && (!operationName || definition.name?.value === operationName)) operation ??= definition;
  }
  return { fragments, operation };
}

/** Returns the value of an argument of @skip or @include; undefined if it isn't a Boolean, which execution will refuse. */
function readBoolean(
  node: ValueNode | undefined,
  operation: OperationDefinitionNode,
  variables: Variables,
): boolean | undefined {
  if (node?.kind === Kind.BOOLEAN) return node.value;
  if (node?.kind !== Kind.VARIABLE) return undefined;
  const name = node.name.value;
  const value = variables[name];
  if (value !== undefined) return typeof value === "boolean" ? value : undefined;
  const definition = operation.variableDefinitions?.find((variable) => variable.variable.name.value === name);
  return definition?.defaultValue?.kind === Kind.BOOLEAN ? definition.defaultValue.value : undefined;
}

/**
 * Whether @skip or @include leave a part of the operation out. In doubt they don't.
 *
 * Scopes, costs and the statements of reads all use this function, so that no unchecked field is returned.
 *
 * @param variables as the request has them, or coerced
 */
export function isLeftOut(
  { directives }: SelectionNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): boolean {
  if (!directives?.length) return false;
  return directives.some(({ name, arguments: [argument] = [] }) => {
    if (name.value === "skip") return readBoolean(argument?.value, operation, variables) === true;
    if (name.value === "include") return readBoolean(argument?.value, operation, variables) === false;
    return false;
  });
}

/** An operation of a request, with all that a walk through it needs. */
export interface WalkedOperation {
  schema: GraphQLSchema;
  operation: OperationDefinitionNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  variables: Variables;
}

type MaybeType = GraphQLNamedType | null | undefined;
/** A field of a selection set, or the selection set of a fragment, with the type that it selects from. */
export type Part =
  | { type: MaybeType; field: FieldNode; set?: undefined }
  | { type: MaybeType; field?: undefined; set: SelectionSetNode };

/** Yields the parts of a selection set that aren't left out. */
export function* listParts(
  { schema, operation, fragments, variables }: WalkedOperation,
  type: MaybeType,
  { selections }: SelectionSetNode,
): Iterable<Part> {
  for (const node of selections) {
    if (isLeftOut(node, operation, variables)) continue;
    if (node.kind === Kind.FIELD) yield { type, field: node };
    else {
      const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
      const condition = fragment?.typeCondition?.name.value;
      if (fragment) yield { type: condition ? schema.getType(condition) : type, set: fragment.selectionSet };
    }
  }
}

/** Returns a field's definition in its type; undefined for __typename, and for introspection at the root. */
export const findField = (type: MaybeType, { name }: FieldNode): GraphQLField<unknown, unknown> | undefined =>
  isObjectType(type) || isInterfaceType(type) ? type.getFields()[name.value] : undefined;
