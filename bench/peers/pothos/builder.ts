import SchemaBuilder from "@pothos/core";
import DrizzlePlugin from "@pothos/plugin-drizzle";
import RelayPlugin from "@pothos/plugin-relay";
import ScopeAuthPlugin from "@pothos/plugin-scope-auth";
import { getTableConfig } from "drizzle-orm/pg-core";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { PoolClient } from "pg";
import { relations } from "./tables.ts";

export interface Context {
  client: PoolClient;
  /** Drizzle within the transaction of the request. */
  db: NodePgDatabase<typeof relations>;
  scopes: ReadonlySet<string>;
}

export const builder = new SchemaBuilder<{
  Context: Context;
  AuthScopes: { scope: string };
  DrizzleRelations: typeof relations;
}>({
  plugins: [ScopeAuthPlugin, RelayPlugin, DrizzlePlugin],
  relay: {
    encodeGlobalID: (type, id) => `gid://service/${type}/${String(id)}`,
    decodeGlobalID: (globalId) => {
      const [type, id] = globalId.slice("gid://service/".length).split("/");
      return { typename: type!, id: id! };
    },
  },
  scopeAuth: { authScopes: ({ scopes }) => ({ scope: (scope) => scopes.has(scope) }) },
  drizzle: { client: ({ db }) => db, getTableConfig, relations },
});
