import type { GraphQLSchema } from "postgraphile/graphql";
import { createPreset } from "../../plugins/index.ts";
import { printSdl } from "../graphql/print-sdl.ts";
import { makeSchemaInTurns } from "./make-schema.ts";
import type { Version } from "./versions.ts";

/**
 * The schema of a version, as the views in the database make it.
 *
 * @param catalog what the catalog has about it, where that has been read before
 */
export async function buildVersion(
  { schemaName }: Pick<Version, "schemaName">,
  pgService: GraphileConfig.PgServiceConfiguration,
  catalog?: () => Promise<string>,
): Promise<GraphQLSchema> {
  return (await makeSchemaInTurns(createPreset({ pgService, schemaName, catalog }))).schema;
}

/** The SDL of a version, likewise. */
export async function printVersion(...built: Parameters<typeof buildVersion>): Promise<string> {
  return printSdl(await buildVersion(...built));
}
