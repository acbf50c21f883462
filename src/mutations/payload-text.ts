import type { GraphQLOutputType } from "postgraphile/graphql";
import { getNullableType, isLeafType, isListType, isNonNullType } from "postgraphile/graphql";
import type { MutationResult } from "../graphql/mutation-outcome.ts";
import type { CompiledMutation } from "./wanted.ts";

/**
 * Returns a response's data as JSON.
 *
 * @param read the columns of the statement that read the payload
 * @returns null when Grafast has to build it: for user errors and warnings, and when reading failed
 */
export function buildData(
  { source, key, typeName, payload }: CompiledMutation,
  result: MutationResult,
  read: readonly (string | null)[] | null | undefined,
): string | null {
  if (result.payload === null || (payload.statement && !read)) return null;
  let values: Record<string, unknown>;
  try {
    values = source.decode(result);
  } catch {
    return null; // Another version of the service may have stored the result in another form
  }
  const fields: string[] = [];
  for (const [name, part] of payload.parts) {
    let text: string | null;
    if (part.kind === "typename") text = JSON.stringify(typeName);
    else if (part.kind === "read") text = read![part.column]!;
    else text = toJson(part.type, values[part.name]);
    if (text === null) return null;
    fields.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${JSON.stringify(key)}:{${fields.join()}}}`;
}

/** Returns a value's JSON text; null for values that Grafast has to build. */
function toJson(type: GraphQLOutputType, value: unknown): string | null {
  if (value == null) return isNonNullType(type) ? null : "null";
  const inner = getNullableType(type);
  if (isListType(inner)) return Array.isArray(value) && value.length === 0 ? "[]" : null;
  return isLeafType(inner) ? JSON.stringify(inner.serialize(value)) : null;
}
