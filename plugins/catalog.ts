import { withSuperuserPgClientFromPgService } from "postgraphile/@dataplan/pg";
import { PgIntrospectionPlugin } from "postgraphile/graphile-build-pg";
import { catalogQuery } from "./lib/catalog-query.ts";

/**
 * What the catalog of Postgres has about a version, as text: equal texts make equal GraphQL schemas.
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
 * The library's plugin that reads the catalog, which would read all schemas each time. This one has what a version needs,
 * and may be given what has been read before.
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
