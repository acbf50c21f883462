import { createServer } from "node:http";
import { postgraphile } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafserv } from "postgraphile/grafserv/node";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { PgAggregatesPreset } from "@graphile/pg-aggregates";
import { PostGraphileConnectionFilterPreset } from "postgraphile-plugin-connection-filter";
import { serveMeasured } from "../../child/serve.ts";
import { claimsOf } from "../../child/token.ts";

// PostGraphile 5 with default settings, on the same views, with role and claims as settings of the transaction.

const preset: GraphileConfig.Preset = {
  extends: [PostGraphileAmberPreset, PostGraphileConnectionFilterPreset, PgAggregatesPreset],
  schema: { connectionFilterRelations: true },
  // Views have no indexes, so with this plugin all lists of related rows would be missing
  disablePlugins: ["PgIndexBehaviorsPlugin"],
  pgServices: [
    makePgService({
      connectionString: process.env.DATABASE_URL_WITH_SETTINGS!,
      poolConfig: { max: Number(process.env.DATABASE_POOL_SIZE) },
      schemas: ["api_unstable"],
      pgSettingsForIntrospection: { role: "service_api" },
      pubsub: false,
    }),
  ],
  grafast: {
    explain: false,
    context: async ({ node }) => ({ pgSettings: { ...(await claimsOf(node!.req.headers)) } }),
  },
  grafserv: { graphqlPath: "/graphql", graphiql: false, websockets: false },
};

const instance = postgraphile(preset);
const server = createServer();
await instance.createServ(grafserv).addTo(server);
await instance.getSchema();
if (process.argv.includes("--print")) {
  const { printSchema } = await import("postgraphile/graphql");
  process.stdout.write(printSchema(await instance.getSchema()));
  process.exit();
}
await serveMeasured(server);
