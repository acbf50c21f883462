import type {
  FieldNode,
  FragmentDefinitionNode,
  GraphQLObjectType,
  GraphQLSchema,
  InlineFragmentNode,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from "postgraphile/graphql";
import { isAbstractType, Kind } from "postgraphile/graphql";
import { isLeftOut } from "../graphql/operation.ts";

/** Values of variables, coerced by their types. */
export type Coerced = Readonly<Record<string, unknown>>;

/** Why an operation is left to Grafast. Not an error: it never leaves this folder. */
export class NotCovered extends Error {}

/** A field of a selection, with everything that the operation selects below it. */
export interface SelectedField {
  node: FieldNode;
  name: string;
  below: SelectionSetNode[];
}

/** An operation in its document. */
export interface ReadableOperation {
  schema: GraphQLSchema;
  definition: OperationDefinitionNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

function applies(
  { schema }: ReadableOperation,
  condition: string | undefined,
  type: GraphQLObjectType,
): boolean {
  if (condition === undefined || condition === type.name) return true;
  const conditionType = schema.getType(condition);
  return isAbstractType(conditionType) && schema.isSubType(conditionType, type);
}

/** The fields that selection sets request from an object, by name and in the order of the answer. */
export function selectedFields(
  operation: ReadableOperation,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  variables: Coerced,
): Map<string, SelectedField> {
  const fields = new Map<string, SelectedField>();
  const spread = new Set<string>();
  const select = (selection: SelectionNode): void => {
    if (isLeftOut(selection, operation.definition, variables)) return;
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value;
      const below = selection.selectionSet ? [selection.selectionSet] : [];
      const before = fields.get(key);
      if (before) before.below.push(...below);
      else fields.set(key, { node: selection, name: selection.name.value, below });
      return;
    }
    let fragment: FragmentDefinitionNode | InlineFragmentNode;
    if (selection.kind === Kind.INLINE_FRAGMENT) fragment = selection;
    else {
      const name = selection.name.value;
      if (spread.has(name)) return;
      spread.add(name);
      fragment = operation.fragments.get(name)!;
    }
    if (applies(operation, fragment.typeCondition?.name.value, type))
      fragment.selectionSet.selections.forEach(select);
  };
  for (const set of sets) set.selections.forEach(select);
  return fields;
}
