import { getBuilder } from "postgraphile/graphile-build";
import type { SchemaResult } from "postgraphile/graphile-build";
import type { GraphQLSchema } from "postgraphile/graphql";
import { makeSchemaInTurns } from "./make-schema.ts";

/** The last schemas of each kind, by fingerprint. In a process that serves one database, it is the current one. */
const known = new Map<string, Map<string, GraphQLSchema>>();
let maxKept = 1;

/** Sets how many schemas of each kind are kept: more than one for processes that serve different databases in turn. */
export const keepSchemas = (count: number): void => void (maxKept = count);

/**
 * Builds a GraphQL schema, which takes half a second, or returns a kept one if the catalog is still the same. A schema has
 * no connection: that is in the preset, and in the context of each request.
 *
 * @param kind names everything that the schema depends on, except the catalog
 * @param fingerprint of the catalog that the preset reads
 */
export async function builtSchema(
  preset: GraphileConfig.Preset,
  kind: string,
  fingerprint: string,
): Promise<SchemaResult> {
  const ofKind = known.get(kind) ?? new Map<string, GraphQLSchema>();
  known.set(kind, ofKind);
  const schema = ofKind.get(fingerprint);
  if (schema !== undefined) return { schema, resolvedPreset: getBuilder(preset).resolvedPreset };
  const built = await makeSchemaInTurns(preset);
  ofKind.set(fingerprint, built.schema);
  const [oldest] = ofKind.keys();
  if (ofKind.size > maxKept) ofKind.delete(oldest!);
  return built;
}
