import { serveMeasured } from "../../child/serve.ts";
import { claimsOf } from "../../child/token.ts";
import { makeSystemTables, removeSystemTables } from "./system-tables.ts";
import { settings } from "./settings.ts";

// Directus with default settings, on the tables, as their owner. The token check of all contestants authenticates
// callers.

Object.assign(process.env, settings);
await makeSystemTables();
// It reads its settings when it is loaded
const { default: emitter } = await import("@directus/api/emitter");
const { createServer } = await import("@directus/api/server");

emitter.onFilter("authenticate", async (nobody, { req }) => {
  await claimsOf(req.headers);
  return { ...nobody, admin: true, app: true };
});
const server = await createServer();
// Its own stop would end the process before its tables are removed
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(signal);
process.on("SIGTERM", () => void removeSystemTables().finally(() => process.exit()));
await serveMeasured(server);
