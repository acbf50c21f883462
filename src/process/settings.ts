import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import { z } from "zod";
import type { LockPatience } from "../database/migrations/retry-locked.ts";
import { defaultLockPatience } from "../database/migrations/retry-locked.ts";
import type { Limits } from "../graphql/limits.ts";
import { usualLimits } from "../graphql/limits.ts";
import { UserError } from "../errors/user-error.ts";
import { AllowList, defaultWebhookPorts } from "../webhooks/addresses.ts";
import { defaultWebhookLimits } from "../webhooks/limits.ts";
import type { WebhookLimits } from "../webhooks/limits.ts";

const limit = (usual: number) => z.coerce.number().int().min(1).max(1_000_000_000).default(usual);
/** Seconds outside, milliseconds inside. */
const seconds = (usual: number, min = 0.1) =>
  z.coerce
    .number()
    .min(min)
    .max(3_600)
    .default(usual)
    .transform((value) => value * 1000);
const flag = z.enum(["true", "false"]).transform((text) => text === "true");

/** One secret or several, separated by commas. */
const keys = (isKey: (text: string) => boolean, wanted: string) =>
  z
    .string()
    .transform((text) => text.split(",").map((key) => key.trim()))
    .refine((texts) => texts.every(isKey), `${wanted}; several are separated by commas`)
    .default([]);
const signingKeys = keys((text) => text.length >= 32, "needs at least 32 characters");
const secretsKeys = keys(
  (text) => /^[A-Za-z0-9+/_-]{43}=?$/.test(text),
  "needs 32 bytes in base64, as `openssl rand -base64 32` writes them",
);

/** Hosts, addresses and ranges of addresses. */
const destinations = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter(Boolean))
  .refine(isAllowList, "takes names of hosts, addresses, and ranges such as 10.0.0.0/8, separated by commas");

function isAllowList(entries: readonly string[]): boolean {
  try {
    return new AllowList(entries) !== null;
  } catch {
    return false;
  }
}

const ports = z
  .string()
  .transform((text) =>
    text
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(Number),
  )
  .refine(
    (numbers) => numbers.every((port) => Number.isInteger(port) && port >= 1 && port <= 65535),
    "takes numbers of ports, separated by commas",
  );

/** What can be set from outside, and what it is otherwise. `.env.example` explains each to operators. */
export const environment = z.object({
  NODE_ENV: z.enum(["development", "production", "test"]).default("development"),
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: z.coerce.number().int().min(0).max(65535).default(4000),
  METRICS_PORT: z.coerce.number().int().min(0).max(65535).optional(),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  DATABASE_WAIT: seconds(60, 0),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(1).max(500).default(10),
  DATA_DIRECTORY: z.string().min(1).default(".data"),
  RUN_AS: z.string().min(1).optional(),
  TOKEN_SIGNING_KEY: signingKeys,
  SECRETS_KEY: secretsKeys,
  EXPLORER: flag.optional(),
  WORKER_CONCURRENCY: z.coerce.number().int().min(0).max(100).default(2),
  EXCHANGE_RATES_FROM: z.string().min(1).optional(),
  FAST_READS: flag.default(true),
  PREPARED_STATEMENTS: flag.default(true),
  WEBHOOK_CONCURRENCY: z.coerce.number().int().min(0).max(500).default(20),
  WEBHOOK_ALLOW: destinations.default([]),
  WEBHOOK_PORTS: ports.default([...defaultWebhookPorts]),
  WEBHOOK_QUERY_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .default(defaultWebhookLimits.queryConnections),
  WEBHOOK_QUERY_TIMEOUT: seconds(defaultWebhookLimits.queryTimeoutMs / 1_000),
  WEBHOOK_QUERY_COST: limit(defaultWebhookLimits.maxQueryCost),
  WEBHOOK_SUBSCRIPTIONS_PER_TOKEN: limit(defaultWebhookLimits.maxSubscriptionsPerToken),
  WEBHOOK_SUBSCRIPTIONS: limit(defaultWebhookLimits.maxSubscriptions),
  STATEMENT_TIMEOUT: seconds(5),
  MUTATION_TIMEOUT: seconds(15),
  LOCK_TIMEOUT: seconds(3),
  MIGRATION_LOCK_TIMEOUT: seconds(defaultLockPatience.lockTimeoutMs / 1000),
  MIGRATION_LOCK_ATTEMPTS: z.coerce.number().int().min(1).max(10_000).default(defaultLockPatience.attempts),
  LIMIT_DEPTH: limit(usualLimits.depth),
  LIMIT_RELATIONS: limit(usualLimits.relations),
  LIMIT_ALIASES: limit(usualLimits.aliases),
  LIMIT_DIRECTIVES: limit(usualLimits.directives),
  LIMIT_TOKENS: limit(usualLimits.tokens),
  LIMIT_MUTATIONS: limit(usualLimits.mutations),
  LIMIT_COST: limit(usualLimits.cost),
  LIMIT_BUCKET: limit(usualLimits.bucket),
  LIMIT_REFILL: limit(usualLimits.refill),
  LIMIT_BODY_BYTES: limit(1_048_576),
  LIMIT_TOKEN_REQUESTS: limit(20),
  LIMIT_CONNECTIONS: limit(1_000),
  RATE_LIMITS_IN: z.enum(["memory", "database"]).default("memory"),
  TRUST_PROXY: z.string().min(1).optional(),
  STOP_DELAY: seconds(1, 0),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
});

/** The settings of a process, read once at its start. */
export interface Settings {
  production: boolean;
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Where Prometheus reads figures; undefined for nowhere. */
  metricsPort: number | undefined;
  /** Where clients reach the service, when that differs from host and port. */
  publicUrl: string | undefined;
  /** An existing Postgres; without it the service runs one of its own. */
  databaseUrl: string | undefined;
  /** How long a start waits for an existing Postgres that is away. */
  databaseWaitMs: number;
  databasePoolSize: number;
  /** Where the embedded Postgres keeps its data. */
  dataDirectory: string;
  /** The user who serves when root starts the service; `root` to stay it. */
  runAs: string | undefined;
  /** Keys that sign access tokens: the first signs, all are accepted. None: those of the database. */
  tokenSigningKeys: string[];
  /** Keys that encrypt secrets in the database, in base64: the first encrypts, all decrypt. None: they are plain. */
  secretsKeys: string[];
  /** Whether the explorer is served: in development, unless set otherwise. */
  explorer: boolean;
  /** Jobs of background work at a time; 0 leaves it to other processes. */
  workerConcurrency: number;
  /** File or address that exchange rates are imported from every day; without it they are not. */
  exchangeRatesFrom: string | undefined;
  /** Whether reads take the short ways, see docs/performance.md. */
  fastReads: boolean;
  /** Whether statements stay prepared on connections. */
  preparedStatements: boolean;
  /** Webhooks that are sent at a time; 0 leaves it to other processes. */
  webhookConcurrency: number;
  /** Destinations of webhooks that are allowed beside those of the public internet. */
  webhookAllow: string[];
  /** Ports that webhooks are sent to, but for those destinations, which may have any. */
  webhookPorts: number[];
  /** What webhooks may take: subscriptions, and payload queries. */
  webhookLimits: WebhookLimits;
  /** How long Postgres works on a statement, a mutation, and waits for a lock at most. In milliseconds. */
  timeouts: { statement: number; mutation: number; lock: number };
  /** How long migrations wait for locks, and how often they are begun. */
  migrationLocks: LockPatience;
  /** What operations and clients may ask for, where the plan says nothing else. */
  limits: Limits;
  /** Of a GraphQL request's body, in bytes. */
  largestBody: number;
  /** Of one client from one address. */
  tokenRequestsPerMinute: number;
  /** Connections of clients to a process at the same time. */
  maxConnections: number;
  /** Whether all processes count together what clients take, in the database. */
  sharedRates: boolean;
  /** Which proxies are believed about the client's address, as Express has it; false for none. */
  trustProxy: string | number | false;
  /** How long the service goes on after SIGTERM, while `/readyz` says already that it is about to stop. */
  stopDelayMs: number;
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
    metricsPort: data.METRICS_PORT,
    publicUrl: data.PUBLIC_URL,
    databaseUrl: data.DATABASE_URL,
    databaseWaitMs: data.DATABASE_WAIT,
    databasePoolSize: data.DATABASE_POOL_SIZE,
    dataDirectory: data.DATA_DIRECTORY,
    runAs: data.RUN_AS,
    tokenSigningKeys: data.TOKEN_SIGNING_KEY,
    secretsKeys: data.SECRETS_KEY,
    explorer: data.EXPLORER ?? data.NODE_ENV !== "production",
    workerConcurrency: data.WORKER_CONCURRENCY,
    exchangeRatesFrom: data.EXCHANGE_RATES_FROM,
    fastReads: data.FAST_READS,
    preparedStatements: data.PREPARED_STATEMENTS,
    webhookConcurrency: data.WEBHOOK_CONCURRENCY,
    webhookAllow: data.WEBHOOK_ALLOW,
    webhookPorts: data.WEBHOOK_PORTS,
    webhookLimits: {
      maxSubscriptionsPerToken: data.WEBHOOK_SUBSCRIPTIONS_PER_TOKEN,
      maxSubscriptions: data.WEBHOOK_SUBSCRIPTIONS,
      maxQueryCost: data.WEBHOOK_QUERY_COST,
      queryTimeoutMs: data.WEBHOOK_QUERY_TIMEOUT,
      queryConnections: data.WEBHOOK_QUERY_CONNECTIONS,
    },
    timeouts: {
      statement: data.STATEMENT_TIMEOUT,
      mutation: data.MUTATION_TIMEOUT,
      lock: data.LOCK_TIMEOUT,
    },
    migrationLocks: {
      lockTimeoutMs: data.MIGRATION_LOCK_TIMEOUT,
      attempts: data.MIGRATION_LOCK_ATTEMPTS,
    },
    limits: {
      depth: data.LIMIT_DEPTH,
      relations: data.LIMIT_RELATIONS,
      aliases: data.LIMIT_ALIASES,
      directives: data.LIMIT_DIRECTIVES,
      tokens: data.LIMIT_TOKENS,
      mutations: data.LIMIT_MUTATIONS,
      cost: data.LIMIT_COST,
      bucket: data.LIMIT_BUCKET,
      refill: data.LIMIT_REFILL,
    },
    largestBody: data.LIMIT_BODY_BYTES,
    tokenRequestsPerMinute: data.LIMIT_TOKEN_REQUESTS,
    maxConnections: data.LIMIT_CONNECTIONS,
    sharedRates: data.RATE_LIMITS_IN === "database",
    trustProxy: /^\d+$/.test(data.TRUST_PROXY ?? "") ? Number(data.TRUST_PROXY) : (data.TRUST_PROXY ?? false),
    stopDelayMs: data.STOP_DELAY,
    logLevel: data.LOG_LEVEL,
  };
}
