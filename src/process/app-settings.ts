import { defaultBulkLimits } from "../bulk/bulk-limits.ts";
import type { BulkLimits } from "../bulk/bulk-limits.ts";
import { defaultLimits } from "../graphql/limits.ts";
import type { PartSettings } from "../http/parts.ts";
import { defaultWebhookLimits } from "../webhooks/webhook-limits.ts";
import type { VersionSettings } from "./open-versions.ts";

/** Settings of the app. The service's settings (src/process/settings.ts) include them. */
export interface AppSettings extends Partial<Omit<PartSettings, "explorer">>, VersionSettings {
  /** Keys that sign access tokens, at least 32 characters each. Without any, one is made and stored in the database. */
  tokenSigningKeys?: readonly string[];
  /**
   * Keys that encrypt secrets in the database, 32 bytes each, in base64. Without any, secrets are stored in plain text.
   */
  secretsKeys?: readonly string[];
  /** Limits of bulk operations. */
  bulkLimits?: BulkLimits;
}

/** The same with defaults. */
export type Settled = ReturnType<typeof withDefaults>;

/** Settings with their defaults. */
export const withDefaults = (settings: AppSettings) => ({
  publicUrl: undefined,
  hosts: [],
  corsOrigins: [],
  logRequests: false,
  slowMs: 1_000,
  tokenSigningKeys: [],
  secretsKeys: [],
  webhookAllow: [],
  webhookLimits: defaultWebhookLimits,
  bulkLimits: defaultBulkLimits,
  limits: defaultLimits,
  maxBodyBytes: 1_048_576,
  tokenRequestsPerMinute: 20,
  trustProxy: false as const,
  ...settings,
  fastReads: settings.fastReads ?? true,
});
