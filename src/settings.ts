import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import { z } from "zod";
import { UserError } from "./user-error.ts";

const flag = z.enum(["true", "false"]).transform((text) => text === "true");

/** What can be set from outside, and what it is otherwise. `.env.example` explains each to operators. */
export const environment = z.object({
  NODE_ENV: z.enum(["development", "production", "test"]).default("development"),
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: z.coerce.number().int().min(0).max(65535).default(4000),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(1).max(500).default(10),
  DATA_DIRECTORY: z.string().min(1).default(".data"),
  TOKEN_SIGNING_KEY: z.string().min(32, "needs at least 32 characters").optional(),
  EXPLORER: flag.optional(),
  WORKER_CONCURRENCY: z.coerce.number().int().min(0).max(100).default(2),
  EXCHANGE_RATES_FROM: z.string().min(1).optional(),
  FAST_READS: flag.default(true),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
});

/** The settings of a process, read once at its start. */
export interface Settings {
  production: boolean;
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Where clients reach the service, when that differs from host and port. */
  publicUrl: string | undefined;
  /** An existing Postgres; without it the service runs one of its own. */
  databaseUrl: string | undefined;
  databasePoolSize: number;
  /** Where the embedded Postgres keeps its data. */
  dataDirectory: string;
  tokenSigningKey: string | undefined;
  /** Whether the explorer is served: in development, unless set otherwise. */
  explorer: boolean;
  /** Jobs of background work at a time; 0 leaves it to other processes. */
  workerConcurrency: number;
  /** File or address that exchange rates are imported from every day; without it they are not. */
  exchangeRatesFrom: string | undefined;
  /** Whether reads take the short ways, see docs/performance.md. */
  fastReads: boolean;
  logLevel: z.infer<typeof environment>["LOG_LEVEL"];
}

/**
 * Reads the settings from environment variables, and from a file `.env` where these are silent.
 *
 * @throws {UserError} when a value is wrong
 */
export function readSettings(): Settings {
  if (existsSync(".env")) loadEnvFile(".env");
  return settingsFrom(process.env);
}

/** The settings that environment variables give. Blank ones count as not set. */
export function settingsFrom(variables: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value?.trim() !== ""));
  const { success, data, error } = environment.safeParse(given);
  if (!success) {
    const lines = error.issues.map((issue) => `  ${issue.path.join(".")}: ${issue.message}`);
    throw new UserError(`These settings are wrong (see .env.example):\n${lines.join("\n")}`);
  }
  return {
    production: data.NODE_ENV === "production",
    host: data.HOST,
    port: data.PORT,
    publicUrl: data.PUBLIC_URL,
    databaseUrl: data.DATABASE_URL,
    databasePoolSize: data.DATABASE_POOL_SIZE,
    dataDirectory: data.DATA_DIRECTORY,
    tokenSigningKey: data.TOKEN_SIGNING_KEY,
    explorer: data.EXPLORER ?? data.NODE_ENV !== "production",
    workerConcurrency: data.WORKER_CONCURRENCY,
    exchangeRatesFrom: data.EXCHANGE_RATES_FROM,
    fastReads: data.FAST_READS,
    logLevel: data.LOG_LEVEL,
  };
}
