import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import ConnectionFilterPlugin from "postgraphile-plugin-connection-filter";
import pg from "pg";
import { createPostGraphileSchema, postgraphile } from "postgraphile";
import { serveMeasured } from "../../child/serve.ts";
import { claimsOf } from "../../child/token.ts";

// PostGraphile 4 with default settings, on the same views, with role and claims as settings of the transaction.

const options = {
  appendPlugins: [ConnectionFilterPlugin],
  pgSettings: async (request: IncomingMessage) => ({ ...(await claimsOf(request.headers)) }),
  graphqlRoute: "/graphql",
  graphiql: false,
  disableQueryLog: true,
  dynamicJson: true,
  simpleCollections: "omit" as const,
  ignoreRBAC: true,
  // A list beside a single row would have the same name
  legacyRelations: "omit" as const,
};
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL_WITH_SETTINGS!,
  max: Number(process.env.DATABASE_POOL_SIZE),
});
if (process.argv.includes("--print")) {
  const { printSchema } = await import("graphql");
  process.stdout.write(printSchema(await createPostGraphileSchema(pool, "api_unstable", options)));
  process.exit();
}
const handler = postgraphile(pool, "api_unstable", options);
await handler.getGraphQLSchema();
await serveMeasured(createServer(handler));
