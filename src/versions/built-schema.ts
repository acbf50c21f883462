import { getBuilder } from "postgraphile/graphile-build";
import type { SchemaResult } from "postgraphile/graphile-build";
import type { GraphQLSchema } from "postgraphile/graphql";
import { makeSchemaInTurns } from "./make-schema.ts";

/** The last schemas of each kind, by their fingerprints. In a process that serves, it is the one that answers. */
const known = new Map<string, Map<string, GraphQLSchema>>();
let maxKept = 1;

/** Has more schemas of each kind kept than the last: for processes that serve different databases in turns. */
export const keepSchemas = (count: number): void => void (maxKept = count);

/**
 * Builds a GraphQL schema, which takes half a second, or returns the last one of its kind if the database is still the
 * same for it. A schema knows no connection: that is in the preset, and in the context of each request.
 *
 * @param kind names all that decides about the schema, except the catalog
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
