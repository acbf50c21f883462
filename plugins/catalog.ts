import { withSuperuserPgClientFromPgService } from "postgraphile/@dataplan/pg";
import { PgIntrospectionPlugin } from "postgraphile/graphile-build-pg";
import { catalogQuery } from "./lib/catalog-query.ts";

/**
 * Postgres' catalog for a version, as text: equal texts make equal GraphQL schemas.
 *
 * @param schemaName the Postgres schema of the version
 */
export async function readCatalog(
  pgService: GraphileConfig.PgServiceConfiguration,
  schemaName: string,
): Promise<string> {
  const settings = pgService.pgSettingsForIntrospection ?? null;
  const { rows } = await withSuperuserPgClientFromPgService(pgService, settings, (client) =>
    client.query<{ introspection: string }>({ text: catalogQuery, values: [[schemaName]] }),
  );
  return rows[0]!.introspection;
}

/**
 * Replaces the library's plugin that reads the catalog of all schemas each time. This one reads what a version needs,
 * and can be given an earlier result.
 */
export function makeCatalogPlugin(catalog: () => Promise<string>): GraphileConfig.Plugin {
  const { gather } = PgIntrospectionPlugin;
  return {
    ...PgIntrospectionPlugin,
    name: "CatalogPlugin",
    description: "Reads of the catalog what a version is made of",
    provides: ["PgIntrospectionPlugin"],
    gather: {
      ...gather,
      initialCache: ({ resolvedPreset }: { resolvedPreset: GraphileConfig.ResolvedPreset }) => ({
        introspectionResultsPromise: catalog().then((introspectionText) =>
          resolvedPreset.pgServices!.map((pgService) => ({ pgService, introspectionText })),
        ),
        dirty: false,
      }),
    } as GraphileConfig.Plugin["gather"],
  };
}
