import { withSuperuserPgClientFromPgService } from "postgraphile/@dataplan/pg";
import { PgIntrospectionPlugin } from "postgraphile/graphile-build-pg";
import { makeIntrospectionQuery } from "postgraphile/graphile-build-pg/pg-introspection";

const everySchema = String.raw`in (select namespaces._id from namespaces where nspname <> 'information_schema' and nspname not like 'pg\_%')`;

/** SQL for the schemas in the parameter, and for the types that their relations and functions use, in any schema. */
const usedTypesSql = `
  own (oid) as (select oid from pg_catalog.pg_namespace where nspname = any ($1::name[])),
  reached (oid) as (
    select oid from pg_catalog.pg_type where typnamespace in (select oid from own)
    union select a.atttypid
    from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid
    where c.relnamespace in (select oid from own) and a.attnum > 0
    union select unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]) || p.prorettype)
    from pg_catalog.pg_proc p where p.pronamespace in (select oid from own)
    union select other.oid
    from reached
    -- One type at a time, by the indexes of the catalog: a quarter of all types is reached
    cross join lateral (
      select unnest(array[t.typelem, t.typarray, t.typbasetype]) from pg_catalog.pg_type t where t.oid = reached.oid
      union all select unnest(array[r.rngsubtype, r.rngtypid, r.rngmultitypid])
      from pg_catalog.pg_range r where reached.oid in (r.rngtypid, r.rngmultitypid)
      union all select a.atttypid
      from pg_catalog.pg_type t join pg_catalog.pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0
      where t.oid = reached.oid
    ) other (oid)
    where other.oid <> 0
  ),
  -- Postgres expects far too many rows of a recursive query, and would look them up one by one: hence the limit
  used (oid) as materialized (select oid from reached limit 10000),`;

/**
 * A condition for the roles of this database: its owners, roles with rights in it, and roles with memberships. Without
 * it, each change of a role on the server would change the schemas of all its databases.
 */
const rolesOfDatabase = `oid < 16384
      or oid = (select datdba from pg_catalog.pg_database where datname = current_database())
      or oid in (
        select d.refobjid from pg_catalog.pg_shdepend d
        where d.refclassid = 'pg_catalog.pg_authid'::regclass
          and d.dbid = (select oid from pg_catalog.pg_database where datname = current_database())
      )
      or oid in (select unnest(array[roleid, member]) from pg_catalog.pg_auth_members)`;

const inOwnSchemas = "in (select oid from own)";
const inUsedTypes = "in (select oid from used)";

/** Parts of the library's query, and their replacements. */
const replacements: [string, string][] = [
  ["with\n", `with recursive${usedTypesSql}\n`],
  [
    "where nspname <> 'information_schema'\n",
    `where oid ${inOwnSchemas} or nspname = 'pg_catalog'
      or oid in (select t.typnamespace from pg_catalog.pg_type t where t.oid ${inUsedTypes})\n`,
  ],
  [
    `where relnamespace ${everySchema}`,
    `where relnamespace ${inOwnSchemas} or reltype ${inUsedTypes} and relkind = 'c'`,
  ],
  [
    `where connamespace ${everySchema}`,
    `where contypid ${inUsedTypes}
      or connamespace ${inOwnSchemas} and (confrelid = 0 or confrelid in (select classes._id from classes))`,
  ],
  [`where pronamespace ${everySchema}`, `where pronamespace ${inOwnSchemas}`],
  [
    `where (typnamespace ${everySchema})\n    or (typnamespace = 'pg_catalog'::regnamespace)`,
    `where oid ${inUsedTypes}`,
  ],
  ["from pg_catalog.pg_roles\n", `from pg_catalog.pg_roles where ${rolesOfDatabase}\n`],
  // The schema must not depend on the name of the database, on when it was vacuumed, or on who reads it
  ["pg_database.oid as _id, *", "pg_database.oid as _id, oid, 'service' as datname, datdba"],
  ["'current_user',\n  current_user", "'current_user',\n  'service_api'"],
];

/**
 * The library's query for the catalog, limited to what a version needs: a fifth of the result. So a mistake in one version
 * can't prevent others from being built. Its parameter is the list of the version's schemas. Relies on internals of
 * pg-introspection 1.0.1: docs/internals/upstream.md.
 */
export const catalogQuery: string = replacements.reduce((query, [from, to]) => {
  if (query.split(from).length !== 2)
    throw new Error(`The library's query for the catalog has changed. It must contain this once: ${from}`);
  return query.replace(from, () => to);
}, makeIntrospectionQuery());

/**
 * Reads Postgres' catalog for a version, as text. Equal texts make equal GraphQL schemas.
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
 * Makes the plugin that replaces the library's, which reads the catalog of all schemas each time. Ours reads only what a
 * version needs, or takes an earlier result, through the cache of graphile-build-pg 5.1.4.
 */
export function makeCatalogPlugin(catalog: () => Promise<string>): GraphileConfig.Plugin {
  const { gather } = PgIntrospectionPlugin;
  return {
    ...PgIntrospectionPlugin,
    name: "CatalogPlugin",
    description: "Reads the parts of the catalog that a version needs",
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
