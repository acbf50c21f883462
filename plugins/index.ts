import { PgSimplifyInflectionPreset } from "@graphile/simplify-inflection";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import "./context.ts";
import { ConnectionsPlugin } from "./connections.ts";
import { EnumColumnsPlugin } from "./enum-columns.ts";
import { FiltersPlugin } from "./filters.ts";
import { IdColumnsPlugin } from "./id-columns.ts";
import { NamingPlugin } from "./naming.ts";
import { NodePlugin } from "./node.ts";
import { RelationsPlugin } from "./relations.ts";
import { ScalarsPlugin } from "./scalars.ts";
import { SurfacePlugin } from "./surface.ts";

/** What differs between the instances of the API. */
export interface PresetOptions {
  /** The database, with its adaptor. */
  pgService: GraphileConfig.PgServiceConfiguration;
  /** The Postgres schema of the version: its views, types and functions. */
  schemaName: string;
}

/** The one place that decides which plugins there are, in which order. */
export function createPreset({ pgService, schemaName }: PresetOptions): GraphileConfig.Preset {
  return {
    extends: [PostGraphileAmberPreset, PgSimplifyInflectionPreset],
    plugins: [NamingPlugin, ScalarsPlugin, SurfacePlugin, EnumColumnsPlugin, IdColumnsPlugin, RelationsPlugin, NodePlugin, ConnectionsPlugin, FiltersPlugin],
    schema: { defaultNodeIdCodec: "globalId" },
    disablePlugins: ["SwallowErrorsPlugin", "QueryQueryPlugin", "RegisterQueryNodePlugin", "PgConnectionTotalCountPlugin", "AddNodeInterfaceToSuitableTypesPlugin", "NodeIdCodecBase64JSONPlugin", "NodeIdCodecPipeStringPlugin", "PgConditionArgumentPlugin","PgConnectionArgOrderByPlugin","PgFirstLastBeforeAfterArgsPlugin","PgIndexBehaviorsPlugin"],
    pgServices: [{ ...pgService, schemas: [schemaName] }],
  };
}
