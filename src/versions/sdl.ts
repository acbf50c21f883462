import type { GraphQLSchema } from "postgraphile/graphql";
import { createPreset } from "../../plugins/index.ts";
import { printSdl } from "../graphql/print-sdl.ts";
import { makeSchemaInTurns } from "./make-schema.ts";
import type { Version } from "./versions.ts";

/**
 * Builds the schema of a version from the views in the database.
 *
 * @param catalog returns the version's catalog, if it has been read before
 */
export async function buildVersion(
  { schemaName }: Pick<Version, "schemaName">,
  pgService: GraphileConfig.PgServiceConfiguration,
  catalog?: () => Promise<string>,
): Promise<GraphQLSchema> {
  return (await makeSchemaInTurns(createPreset({ pgService, schemaName, catalog }))).schema;
}

/** Builds the schema of a version, and prints its SDL. */
export async function printVersion(...built: Parameters<typeof buildVersion>): Promise<string> {
  return printSdl(await buildVersion(...built));
}
