import type { GrafastExecutionArgs } from "postgraphile/grafast";
import type { VariableDefinitionNode } from "postgraphile/graphql";
import { getVariableValues, Kind } from "postgraphile/graphql";
import type { Coerced, ReadableOperation } from "./operation.ts";

const noVariables: Coerced = {};

/** Checks for scalars whose values need no coercion, which most variables have. */
const isPlain: Readonly<Record<string, (value: unknown) => boolean>> = {
  ID: (value) => typeof value === "string",
  String: (value) => typeof value === "string",
  Boolean: (value) => typeof value === "boolean",
  Int: (value) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31,
  Float: (value) => Number.isFinite(value),
};

function isPlainlyGiven({ variable, type }: VariableDefinitionNode, given: Coerced): boolean {
  const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  if (named.kind !== Kind.NAMED_TYPE) return false;
  return isPlain[named.name.value]?.(given[variable.name.value]) ?? false;
}

/** The coerced variables of a request; null when some are wrong, which Grafast will report. */
export function coerce(
  { schema, definition: { variableDefinitions } }: ReadableOperation,
  given: GrafastExecutionArgs["variableValues"],
): Coerced | null {
  if (!variableDefinitions?.length) return noVariables;
  const values = given ?? noVariables;
  if (variableDefinitions.every((definition) => isPlainlyGiven(definition, values))) return values;
  return getVariableValues(schema, variableDefinitions, values, { maxErrors: 1 }).coerced ?? null;
}
