import type { DocumentNode, GraphQLNamedType, GraphQLSchema, SelectionSetNode } from "postgraphile/graphql";
import { getNamedType, isInterfaceType, isObjectType, Kind } from "postgraphile/graphql";
import type { Variables } from "./operation.ts";
import { findOperation, isLeftOut } from "./operation.ts";
import type { ScopeRequirement } from "./scopes.ts";

/** A field of an operation that requires scopes. */
export interface RequiringField extends ScopeRequirement {
  /** Type and field, for example `Product.tags`. */
  field: string;
  /** Its first place in the operation, as names in the answer. */
  path: string[];
}

/**
 * The fields of an operation that require scopes, each once.
 *
 * The operation must be valid for the schema. Every selection set is visited once, however often fragments are spread,
 * so the work is limited by the length of the document.
 */
export function requiringFields(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): RequiringField[] {
  const { fragments, operation } = findOperation(document, operationName);
  if (!operation) return [];
  const found = new Map<string, RequiringField>();
  const visited = new Set<SelectionSetNode>();

  const visit = (
    type: GraphQLNamedType | null | undefined,
    selections: SelectionSetNode,
    path: string[],
  ): void => {
    if (visited.has(selections)) return;
    visited.add(selections);
    for (const node of selections.selections) {
      if (isLeftOut(node, operation, variables)) continue;
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(node.name.value);
        if (fragment) visit(schema.getType(fragment.typeCondition.name.value), fragment.selectionSet, path);
      } else if (node.kind === Kind.INLINE_FRAGMENT) {
        const condition = node.typeCondition?.name.value;
        visit(condition ? schema.getType(condition) : type, node.selectionSet, path);
      } else if (isObjectType(type) || isInterfaceType(type)) {
        const field = type.getFields()[node.name.value];
        if (!field) continue; // __typename, and introspection at the root
        const here = [...path, node.alias?.value ?? node.name.value];
        const requirement = field.extensions.requiresScopes;
        const name = `${type.name}.${field.name}`;
        if (requirement && !found.has(name)) found.set(name, { field: name, path: here, ...requirement });
        if (node.selectionSet) visit(getNamedType(field.type), node.selectionSet, here);
      }
    }
  };
  visit(schema.getRootType(operation.operation), operation.selectionSet, []);
  return [...found.values()];
}
