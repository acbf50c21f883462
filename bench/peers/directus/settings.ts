import { tmpdir } from "node:os";
import { join } from "node:path";

/** The schema of Directus' own tables: one of its own, so that the measured ones stay as they are. */
export const systemSchema = "directus";

/** Settings of Directus, as environment variables. */
export const settings = {
  DB_CLIENT: "pg",
  // Without the prefix, it would take a text with commas for a list
  DB_CONNECTION_STRING: `string:${process.env.DATABASE_URL_WITH_SETTINGS}`,
  DB_SEARCH_PATH: `array:${systemSchema},erp,ledger`,
  DB_POOL__MAX: process.env.DATABASE_POOL_SIZE!,
  SECRET: process.env.TOKEN_SIGNING_KEY!,
  LOG_LEVEL: "error",
  TELEMETRY: "false",
  SERVE_APP: "false",
  CACHE_ENABLED: "false",
  RATE_LIMITER_ENABLED: "false",
  // Refuses requests when there is much to do
  PRESSURE_LIMITER_ENABLED: "false",
  // Nothing that lies in the folder it is started in is meant for it
  CONFIG_PATH: join(tmpdir(), "no-settings"),
  EXTENSIONS_PATH: join(tmpdir(), "no-extensions"),
  STORAGE_LOCAL_ROOT: tmpdir(),
};
