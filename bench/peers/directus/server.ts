import { serveMeasured } from "../../child/serve.ts";
import { claimsOf } from "../../child/token.ts";
import { makeSystemTables, removeSystemTables } from "./system-tables.ts";
import { settings } from "./settings.ts";

// Directus as it comes, over the tables, as their owner. Who may ask is decided by the token check of all contestants.

Object.assign(process.env, settings);
await makeSystemTables();
// It reads its settings as it is loaded
const { default: emitter } = await import("@directus/api/emitter");
const { createServer } = await import("@directus/api/server");

emitter.onFilter("authenticate", async (nobody, { req }) => {
  await claimsOf(req.headers);
  return { ...nobody, admin: true, app: true };
});
const server = await createServer();
// Its own way to stop would end the process before its tables are gone
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(signal);
process.on("SIGTERM", () => void removeSystemTables().finally(() => process.exit()));
await serveMeasured(server);
