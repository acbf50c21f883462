import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { createSchema, createYoga } from "graphql-yoga";
import type { Plugin } from "graphql-yoga";
import pg from "pg";
import { serveMeasured } from "../../child/serve.ts";
import { claimsOf } from "../../child/token.ts";
import { createLoaders } from "./loaders.ts";
import type { Context } from "./resolvers.ts";
import { resolvers } from "./resolvers.ts";
import { Transaction } from "./transaction.ts";

// A GraphQL server as one would write it by hand: resolvers, DataLoader against N+1, one transaction per request.

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL_WITH_SETTINGS!,
  max: Number(process.env.DATABASE_POOL_SIZE),
});

const endTransaction: Plugin<Context> = {
  onExecute: ({ args }) => ({
    onExecuteDone: () => (args.contextValue as unknown as Context).transaction.end(),
  }),
};

const yoga = createYoga<{ req: IncomingMessage }, Context>({
  schema: createSchema({
    typeDefs: readFileSync(new URL("schema.graphql", import.meta.url), "utf8"),
    resolvers: resolvers as never,
  }),
  plugins: [endTransaction],
  context: async ({ req }) => {
    const transaction = new Transaction(pool, await claimsOf(req.headers));
    return { transaction, loaders: createLoaders(transaction) };
  },
  graphqlEndpoint: "/graphql",
  graphiql: false,
  landingPage: false,
  logging: false,
  maskedErrors: false,
});
await serveMeasured(createServer((request, response) => void yoga(request, response)));
