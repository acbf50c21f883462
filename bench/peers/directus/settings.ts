import { tmpdir } from "node:os";
import { join } from "node:path";

/** A separate schema for Directus' own tables, so that the measured schemas stay unchanged. */
export const systemSchema = "directus";

/** Settings of Directus, as environment variables. */
export const settings = {
  DB_CLIENT: "pg",
  // Without the prefix, it would parse a text with commas as a list
  DB_CONNECTION_STRING: `string:${process.env.DATABASE_URL_WITH_SETTINGS}`,
  DB_SEARCH_PATH: `array:${systemSchema},erp,ledger`,
  DB_POOL__MAX: process.env.DATABASE_POOL_SIZE!,
  SECRET: process.env.TOKEN_SIGNING_KEY!,
  LOG_LEVEL: "error",
  TELEMETRY: "false",
  SERVE_APP: "false",
  CACHE_ENABLED: "false",
  RATE_LIMITER_ENABLED: "false",
  // It would refuse requests under load
  PRESSURE_LIMITER_ENABLED: "false",
  // No file of the working directory is meant for it
  CONFIG_PATH: join(tmpdir(), "no-settings"),
  EXTENSIONS_PATH: join(tmpdir(), "no-extensions"),
  STORAGE_LOCAL_ROOT: tmpdir(),
};
