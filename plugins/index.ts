import { PgSimplifyInflectionPlugin, PgSimplifyInflectionPreset } from "@graphile/simplify-inflection";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import "../src/graphql/context.ts";
import { BehaviorsPlugin } from "./behaviors.ts";
import { makeCatalogPlugin, readCatalog } from "./catalog.ts";
import { catalogQuery } from "./lib/catalog-query.ts";
import { ConnectionsPlugin } from "./connections.ts";
import { DescriptionsPlugin } from "./descriptions.ts";
import { EnumColumnsPlugin } from "./enum-columns.ts";
import { FiltersPlugin } from "./filters.ts";
import { IdColumnsPlugin } from "./id-columns.ts";
import { ListColumnsPlugin } from "./list-columns.ts";
import { MutationsPlugin } from "./mutations.ts";
import { NamingPlugin } from "./naming.ts";
import { NodePlugin } from "./node.ts";
import type { OnRead } from "./reads.ts";
import { makeReadsPlugin } from "./reads.ts";
import { RelationsPlugin } from "./relations.ts";
import type { ReportOptions } from "./report-errors.ts";
import { makeReportErrorsPlugin } from "./report-errors.ts";
import { ScalarsPlugin } from "./scalars.ts";
import { ScopeCheckPlugin } from "./scope-check.ts";
import { ScopesPlugin } from "./scopes.ts";
import { SurfacePlugin } from "./surface.ts";
import { TextAnswersPlugin } from "./text-answers.ts";

export { catalogQuery, readCatalog };

/** What differs between the instances of the API. */
export interface PresetOptions {
  /** The database, with its adaptor. Instances may share it. */
  pgService: GraphileConfig.PgServiceConfiguration;
  /** The Postgres schema of the version: its views, types and functions. */
  schemaName: string;
  /** What the catalog has about it, where that has been read before: see {@link readCatalog}. */
  catalog?: (() => Promise<string>) | undefined;
  /** Whether reads are answered by one statement each where that is known. */
  fastReads?: boolean;
  /** Told which way each read takes. */
  onRead?: OnRead;
  /** How errors of requests are told, and where; only for what answers requests. */
  report?: ReportOptions;
}

const { inflection: shortNames } = PgSimplifyInflectionPlugin;
/** It also has names for what plugins below would make that are switched off. */
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
const switchedOff: GraphileConfig.Preset["disablePlugins"] = [
  // Ours takes its place (catalog.ts)
  "PgIntrospectionPlugin",
  // It drops fields when their plugin fails. We want to know.
  "SwallowErrorsPlugin",
  // Fields and types that the contract doesn't have
  "QueryQueryPlugin",
  "RegisterQueryNodePlugin",
  "MutationPayloadQueryPlugin",
  "PgConnectionTotalCountPlugin",
  // Ours take their place: ids (node.ts), page arguments (connections.ts), filters (filters.ts)
  "AddNodeInterfaceToSuitableTypesPlugin",
  "NodeIdCodecBase64JSONPlugin",
  "NodeIdCodecPipeStringPlugin",
  "PgFirstLastBeforeAfterArgsPlugin",
  "PgConditionArgumentPlugin",
  "PgConnectionArgOrderByPlugin",
  // They look for what we don't offer, at every view and column, which takes half of the time of a start: look-ups by
  // other unique columns, functions as fields, orders, conditions, generated mutations, subscriptions, tokens
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
  "SubscriptionPlugin",
  "PgJWTPlugin",
  "PgInterfaceModeUnionAllRowsPlugin",
  "PgPolymorphismOnlyArgumentPlugin",
  // It leaves out what the role of the connection may not see, so the schema would depend on who looks, and a
  // forgotten grant would show as a field that is gone instead of as an error.
  "PgRBACPlugin",
  // It hides relations whose foreign key has no index. Views have none: `db/lint` looks at the tables.
  "PgIndexBehaviorsPlugin",
];

/**
 * The GraphQL schema of one version: which plugins there are, and in which order they work.
 *
 * Each request's context comes from the server, which extends this preset with `grafast.context` (see src/graphql/context.ts).
 */
export function createPreset({
  pgService,
  schemaName,
  catalog = () => readCatalog(pgService, schemaName),
  fastReads = true,
  onRead,
  report,
}: PresetOptions): GraphileConfig.Preset {
  return {
    extends: [
      // Before all others
      { plugins: [BehaviorsPlugin] },
      PostGraphileAmberPreset,
      ShortNamesPreset,
    ],
    plugins: [
      // What is known of the database
      makeCatalogPlugin(catalog),
      // What the view is called, and what of it is offered
      NamingPlugin,
      SurfacePlugin,
      RelationsPlugin,
      // Which GraphQL types its columns have
      ScalarsPlugin,
      EnumColumnsPlugin,
      IdColumnsPlugin,
      ListColumnsPlugin,
      // How rows are found
      NodePlugin,
      FiltersPlugin,
      ConnectionsPlugin,
      // How data is changed
      MutationsPlugin,
      // Who may use it
      ScopesPlugin,
      ScopeCheckPlugin,
      // How reads are answered in one statement
      ...(fastReads ? [makeReadsPlugin(onRead)] : []),
      // What it says about itself, which describes what the others made
      DescriptionsPlugin,
      // How requests are answered
      ...(report ? [makeReportErrorsPlugin(report), TextAnswersPlugin] : []),
    ],
    disablePlugins: switchedOff,
    pgServices: [{ ...pgService, schemas: [schemaName] }],
    schema: { defaultNodeIdCodec: "globalId" },
  };
}
