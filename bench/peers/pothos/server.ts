import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { drizzle } from "drizzle-orm/node-postgres";
import { createYoga } from "graphql-yoga";
import type { Plugin } from "graphql-yoga";
import pg from "pg";
import type { PoolClient } from "pg";
import { serveMeasured } from "../../child/serve.ts";
import type { Claims } from "../../child/token.ts";
import { claimsOf } from "../../child/token.ts";
import type { Context } from "./builder.ts";
import { schema } from "./schema.ts";
import { relations } from "./tables.ts";

// Pothos with Drizzle on Yoga: a schema in code, scopes on its types, one transaction per request.

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL_WITH_SETTINGS!,
  max: Number(process.env.DATABASE_POOL_SIZE),
});

const ofClient = (client: PoolClient) => drizzle({ client, relations });
const known = new WeakMap<PoolClient, ReturnType<typeof ofClient>>();

async function begin(claims: Claims): Promise<Context> {
  const client = await pool.connect();
  let db = known.get(client);
  if (!db) known.set(client, (db = ofClient(client)));
  await client.query("begin");
  const entries = Object.entries(claims);
  const calls = entries.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`);
  await client.query({ name: "claims", text: `select ${calls.join(", ")}`, values: entries.flat() });
  return { client, db, scopes: new Set(claims["service.scopes"].split(" ")) };
}

const endTransaction: Plugin<Context> = {
  onExecute: ({ args }) => ({
    async onExecuteDone() {
      const { client } = args.contextValue as unknown as Context;
      await client.query("commit");
      client.release();
    },
  }),
};

const yoga = createYoga<{ req: IncomingMessage }, Context>({
  schema,
  plugins: [endTransaction],
  context: async ({ req }) => begin(await claimsOf(req.headers)),
  graphqlEndpoint: "/graphql",
  graphiql: false,
  landingPage: false,
  logging: false,
  maskedErrors: false,
});
await serveMeasured(createServer((request, response) => void yoga(request, response)));
