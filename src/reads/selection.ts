import type {
  FieldNode,
  FragmentDefinitionNode,
  GraphQLObjectType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from "postgraphile/graphql";
import { isAbstractType } from "postgraphile/graphql";
import type { Variables } from "../graphql/operation.ts";
import { listParts } from "../graphql/operation.ts";

/** The values of variables, after coercion. */
export type CoercedVariables = Variables;

/** The reason why Grafast has to run an operation. It is caught within the compilers of reads and mutations. */
export class UnsupportedOperation extends Error {}

/** A field of a selection, with everything that the operation selects below it. */
export interface SelectedField {
  node: FieldNode;
  name: string;
  below: SelectionSetNode[];
}

/** An operation with its schema and the fragments of its document. */
export interface ReadableOperation {
  schema: GraphQLSchema;
  definition: OperationDefinitionNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** Returns the fields that selection sets request from an object, by name and in the order of the response. */
export function selectedFields(
  { schema, definition: operation, fragments }: ReadableOperation,
  object: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  variables: CoercedVariables,
): Map<string, SelectedField> {
  const walked = { schema, operation, fragments, variables };
  const fields = new Map<string, SelectedField>();
  const visited = new Set<SelectionSetNode>();
  const select = (selections: SelectionSetNode): void => {
    if (visited.has(selections)) return;
    visited.add(selections);
    for (const { type, field, set } of listParts(walked, object, selections)) {
      if (set) {
        const applies = type === object || (isAbstractType(type) && schema.isSubType(type, object));
        if (applies) select(set);
        continue;
      }
      const key = field.alias?.value ?? field.name.value;
      const below = field.selectionSet ? [field.selectionSet] : [];
      const before = fields.get(key);
      if (before) before.below.push(...below);
      else fields.set(key, { node: field, name: field.name.value, below });
    }
  };
  sets.forEach(select);
  return fields;
}
