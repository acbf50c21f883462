import type { ArgumentNode, FieldNode, OperationDefinitionNode, ValueNode } from "postgraphile/graphql";
import { Kind } from "postgraphile/graphql";
import type { Variables } from "./operation.ts";
import { defaultPageSize, maxPageSize } from "./page-size.ts";

/** The `first` or `last` of a list. An invalid one counts as one: the list itself will refuse it. */
export function pageSize(node: FieldNode, operation: OperationDefinitionNode, variables: Variables): number {
  const sizes = node.arguments?.filter(isSize).map(({ value }) => sizeOf(value, operation, variables)) ?? [];
  const given = sizes.filter((size) => size !== undefined);
  return given.length > 0 ? Math.max(...given) : defaultPageSize;
}

function sizeOf(
  given: ValueNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): number | undefined {
  let value: ValueNode | undefined = given;
  let size: unknown;
  if (value?.kind === Kind.VARIABLE) {
    const name = value.name.value;
    size = variables[name];
    value = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name)?.defaultValue;
  }
  if (size === undefined && value?.kind === Kind.INT) size = Number(value.value);
  return typeof size === "number" ? Math.min(Math.max(size, 0), maxPageSize) : undefined;
}

const isSize = ({ name }: ArgumentNode): boolean => name.value === "first" || name.value === "last";

/** Whether the size of a list's page is a variable. */
export const hasVariableSize = ({ arguments: given = [] }: FieldNode): boolean =>
  given.some((argument) => isSize(argument) && argument.value.kind === Kind.VARIABLE);
