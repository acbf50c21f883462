import { DefaultLogger, LogLevel, UuidIdStrategy, bootstrap } from "@vendure/core";
import type { VendureConfig } from "@vendure/core";
import { copyProducts } from "../../child/copy-products.ts";
import { announce } from "../../child/serve.ts";

// Vendure with default settings, in a database of its own. Its admin API takes tokens of its own sessions.

const superadminCredentials = { identifier: "measured", password: "hunter2" };

const config = (connections: { url: string; synchronize: boolean }): VendureConfig => ({
  apiOptions: { hostname: "127.0.0.1", port: 0 },
  authOptions: { tokenMethod: "bearer", superadminCredentials },
  dbConnectionOptions: {
    type: "postgres",
    ...connections,
    // The function of this name is Postgres' own now
    uuidExtension: "pgcrypto",
    installExtensions: false,
    poolSize: Number(process.env.DATABASE_POOL_SIZE),
  },
  entityOptions: { entityIdStrategy: new UuidIdStrategy() },
  customFields: { ProductVariant: [{ name: "gtin", type: "string" }] },
  paymentOptions: { paymentMethodHandlers: [] },
  logger: new DefaultLogger({ level: LogLevel.Error }),
});

// The first start makes the tables
const first = await bootstrap(config({ url: process.env.DATABASE_URL!, synchronize: true }));
await first.close();
await copyProducts(new URL("products.sql", import.meta.url));

const app = await bootstrap(config({ url: process.env.DATABASE_URL_WITH_SETTINGS!, synchronize: false }));
const url = await app.getUrl();
const { identifier, password } = superadminCredentials;
const { headers } = await fetch(`${url}/admin-api`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    query: `mutation { login(username: "${identifier}", password: "${password}") { __typename } }`,
  }),
});
announce(url, headers.get("vendure-auth-token")!);
process.on("SIGTERM", () => process.exit());
