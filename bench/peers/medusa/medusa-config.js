import { defineConfig } from "@medusajs/framework/utils";

const { DATABASE_URL_WITH_SETTINGS, DATABASE_POOL_SIZE, TOKEN_SIGNING_KEY } = process.env;

// Medusa looks for a file of this name
export default defineConfig({
  projectConfig: {
    databaseUrl: DATABASE_URL_WITH_SETTINGS,
    databaseDriverOptions: { pool: { max: Number(DATABASE_POOL_SIZE) } },
    http: { jwtSecret: TOKEN_SIGNING_KEY, cookieSecret: TOKEN_SIGNING_KEY },
  },
  admin: { disable: true },
});
