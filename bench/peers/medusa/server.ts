import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { generateJwtToken } from "@medusajs/framework/utils";
import express from "express";
import { copyProducts } from "../../child/copy-products.ts";
import { serveMeasured } from "../../child/serve.ts";

// Medusa with default settings, in a database of its own, without its pages for administrators. As there is no Redis, its
// cache, events, workflows and locks are in memory.

const folder = import.meta.dirname;
process.chdir(folder);

const cli = createRequire(import.meta.url).resolve("@medusajs/cli");
const { DATABASE_URL, TOKEN_SIGNING_KEY } = process.env;
await promisify(execFile)(process.execPath, [cli, "db:migrate", "--skip-scripts", "--execute-safe-links"], {
  env: { ...process.env, DATABASE_URL_WITH_SETTINGS: DATABASE_URL },
  maxBuffer: Infinity,
});
await copyProducts(new URL("products.sql", import.meta.url));

// It reads its settings when it is loaded
const { default: loaders } = await import("@medusajs/medusa/loaders/index");
const app = express();
await loaders.default({ directory: folder, expressApp: app });
// As it signs one itself after a log-in; it looks for no user
const token = generateJwtToken(
  { actor_id: "user_measured", actor_type: "user", auth_identity_id: "authid_measured" },
  { secret: TOKEN_SIGNING_KEY!, expiresIn: "1d" },
);
await serveMeasured(createServer(app), token);
process.on("SIGTERM", () => process.exit());
