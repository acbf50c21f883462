import type {
  DocumentNode,
  FieldNode,
  GraphQLField,
  GraphQLNamedType,
  GraphQLSchema,
  SelectionSetNode,
} from "postgraphile/graphql";
import { getNamedType, isInterfaceType, isObjectType, Kind, valueFromASTUntyped } from "postgraphile/graphql";
import { forEachRelation } from "./filter-relations.ts";
import { withDefaults } from "./given-argument.ts";
import type { Variables } from "./operation.ts";
import { findOperation, isLeftOut } from "./operation.ts";
import type { ScopeRequirement } from "./scopes.ts";

/** A field of an operation that requires scopes, or a relation that a filter in it follows. */
export interface RequiringField extends ScopeRequirement {
  /** Type and field, for example `Product.tags` or `ProductFilterInput.tags`. */
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
  const values = withDefaults(operation, variables);

  const note = (owner: string, name: string, requirement: ScopeRequirement | undefined, path: string[]) => {
    const field = `${owner}.${name}`;
    if (requirement && !found.has(field)) found.set(field, { field, path, ...requirement });
  };
  const noteFilters = ({ args }: GraphQLField<unknown, unknown>, node: FieldNode, path: string[]) => {
    for (const { name, value } of node.arguments ?? []) {
      const type = args.find((argument) => argument.name === name.value)?.type;
      if (!type) continue;
      forEachRelation(type, valueFromASTUntyped(value, values), (owner, relation) =>
        note(owner, relation.name, relation.extensions.requiresScopes, path),
      );
    }
  };

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
        note(type.name, field.name, field.extensions.requiresScopes, here);
        noteFilters(field, node, here);
        if (node.selectionSet) visit(getNamedType(field.type), node.selectionSet, here);
      }
    }
  };
  visit(schema.getRootType(operation.operation), operation.selectionSet, []);
  return [...found.values()];
}
