import { PgSimplifyInflectionPlugin, PgSimplifyInflectionPreset } from "@graphile/simplify-inflection";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import "../src/graphql/context.ts";
import { aggregatesPreset } from "./aggregates.ts";
import { BehaviorsPlugin } from "./behaviors.ts";
import { catalogQuery, makeCatalogPlugin, readCatalog } from "./catalog.ts";
import { ClashesPlugin } from "./clashes.ts";
import { ComputedColumnsPlugin } from "./computed-columns.ts";
import { ConnectionsPlugin } from "./connections.ts";
import { CostsPlugin } from "./costs.ts";
import { DeprecationsPlugin } from "./deprecations.ts";
import { DescriptionsPlugin } from "./descriptions.ts";
import { EnumColumnsPlugin } from "./enum-columns.ts";
import { FiltersPlugin } from "./filters.ts";
import { FunctionsPlugin } from "./functions.ts";
import { IdColumnsPlugin } from "./id-columns.ts";
import { ListColumnsPlugin } from "./list-columns.ts";
import { MutationFieldsPlugin } from "./mutation-fields.ts";
import { NamingPlugin } from "./naming.ts";
import { NodePlugin, NodesPlugin } from "./node.ts";
import { ReadsPlugin } from "./reads.ts";
import { RelationFiltersPlugin } from "./relation-filters.ts";
import { ScopesPlugin } from "./scopes.ts";
import { SearchPlugin } from "./search.ts";
import { SubscriptionsPlugin } from "./subscriptions.ts";
import { SurfacePlugin } from "./surface.ts";
import { SpecifiedScalarsPlugin, ValueTypesPlugin } from "./value-types.ts";
import { WiderListsPlugin } from "./wider-lists.ts";

export { catalogQuery, readCatalog };

/** Options of an instance of the API. */
export interface PresetOptions {
  /** The database, with its adaptor. Instances may share it. */
  pgService: GraphileConfig.PgServiceConfiguration;
  /** The Postgres schema of the version: its views, types and functions. */
  schemaName: string;
  /** The catalog of that schema, if it has been read before: see {@link readCatalog}. */
  catalog?: (() => Promise<string>) | undefined;
  /** Whether to answer reads by one SQL statement, where that is possible. */
  fastReads?: boolean;
}

const { inflection: shortNames } = PgSimplifyInflectionPlugin;
/** Shortens names. Its names for things of plugins that are switched off below are ignored. */
const ShortNamesPreset: GraphileConfig.Preset = {
  ...PgSimplifyInflectionPreset,
  plugins: [
    {
      ...PgSimplifyInflectionPlugin,
      inflection: {
        ...shortNames,
        ignoreReplaceIfNotExists: Object.keys(shortNames!.replace!) as (keyof GraphileBuild.Inflection)[],
      },
    },
  ],
};

/** Plugins of the library that are switched off. */
const disabledPlugins: GraphileConfig.Preset["disablePlugins"] = [
  // Replaced by ours (catalog.ts)
  "PgIntrospectionPlugin",
  // It drops fields when their plugin fails; we want the error
  "SwallowErrorsPlugin",
  // Fields and types that the contract doesn't have
  "QueryQueryPlugin",
  "RegisterQueryNodePlugin",
  "MutationPayloadQueryPlugin",
  "PgConnectionTotalCountPlugin",
  // Replaced by ours: ids (node.ts), page arguments (connections.ts), filters (filters.ts)
  "AddNodeInterfaceToSuitableTypesPlugin",
  "NodeIdCodecBase64JSONPlugin",
  "NodeIdCodecPipeStringPlugin",
  "PgFirstLastBeforeAfterArgsPlugin",
  "PgConditionArgumentPlugin",
  "PgConnectionArgOrderByPlugin",
  // They search every view and column for features that we don't offer, which takes half of the start-up time.
  // Features: look-ups by other unique columns, functions as fields, orders, conditions, generated mutations, tokens
  "PgRowByUniquePlugin",
  "PgCustomTypeFieldPlugin",
  "PgOrderAllAttributesPlugin",
  "PgOrderByPrimaryKeyPlugin",
  "PgOrderCustomFieldsPlugin",
  "PgConnectionArgOrderByDefaultValuePlugin",
  "PgConditionCustomFieldsPlugin",
  "PgMutationCreatePlugin",
  "PgMutationUpdateDeletePlugin",
  "PgMutationPayloadEdgePlugin",
  "ClientMutationIdDescriptionPlugin",
  "PgJWTPlugin",
  "PgInterfaceModeUnionAllRowsPlugin",
  "PgPolymorphismOnlyArgumentPlugin",
  // It hides everything that the connection's role may not see. The schema would depend on the role, and a
  // forgotten grant would remove a field instead of causing an error.
  "PgRBACPlugin",
  // It hides relations whose foreign key has no index. Views have none; `db/lint` checks the tables.
  "PgIndexBehaviorsPlugin",
];

/**
 * Returns the preset of one version's GraphQL schema: its plugins, in order.
 *
 * Each execution has its own context (src/graphql/context.ts).
 */
export function createPreset({
  pgService,
  schemaName,
  catalog = () => readCatalog(pgService, schemaName),
  fastReads = true,
}: PresetOptions): GraphileConfig.Preset {
  // It was frozen before the plugins that it lacks below existed
  const isFirstVersion = schemaName === "api_2026_06_unstable";
  return {
    extends: [
      // Before all others
      { plugins: [BehaviorsPlugin] },
      PostGraphileAmberPreset,
      ShortNamesPreset,
      aggregatesPreset,
    ],
    plugins: [
      // The catalog of the database
      makeCatalogPlugin(catalog),
      // Names, and which fields there are
      NamingPlugin,
      SurfacePlugin,
      ClashesPlugin,
      // GraphQL types of columns
      ValueTypesPlugin,
      EnumColumnsPlugin,
      ComputedColumnsPlugin,
      IdColumnsPlugin,
      ListColumnsPlugin,
      ...(isFirstVersion ? [] : [SpecifiedScalarsPlugin]),
      // Lists, filters and look-ups
      NodePlugin,
      FunctionsPlugin,
      FiltersPlugin,
      SearchPlugin,
      ConnectionsPlugin,
      CostsPlugin,
      ...(isFirstVersion ? [] : [WiderListsPlugin, NodesPlugin, RelationFiltersPlugin]),
      // Mutations
      MutationFieldsPlugin,
      // Subscriptions
      ...(isFirstVersion ? [] : [SubscriptionsPlugin]),
      // Scopes
      ScopesPlugin,
      // Reads by one statement
      ...(fastReads ? [ReadsPlugin] : []),
      // Descriptions of fields that the plugins above add
      DeprecationsPlugin,
      DescriptionsPlugin,
    ],
    disablePlugins: disabledPlugins,
    pgServices: [{ ...pgService, schemas: [schemaName] }],
    schema: { defaultNodeIdCodec: "globalId" },
  };
}
