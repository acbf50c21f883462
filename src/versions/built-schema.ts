import { getBuilder } from "postgraphile/graphile-build";
import type { SchemaResult } from "postgraphile/graphile-build";
import type { GraphQLSchema } from "postgraphile/graphql";
import { makeSchemaInTurns } from "./make-schema.ts";

/** The last schema of each kind. In a process that serves, it is the one that answers. */
const last = new Map<string, { fingerprint: string; schema: GraphQLSchema }>();

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
  const known = last.get(kind);
  if (known?.fingerprint === fingerprint)
    return { schema: known.schema, resolvedPreset: getBuilder(preset).resolvedPreset };
  const built = await makeSchemaInTurns(preset);
  last.set(kind, { fingerprint, schema: built.schema });
  return built;
}
