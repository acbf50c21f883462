import type { Pool } from "pg";
import type { Logger } from "pino";
import type { AccessTokens } from "../auth/access-token.ts";
import type { ActiveCredentials } from "../auth/active-credentials.ts";
import type { CurrentMerchantPlan } from "../auth/merchant-plan.ts";
import type { Meter } from "../auth/rate-limits/meter.ts";
import type { RateLimits } from "../auth/rate-limits/rate-limits.ts";
import type { SessionCheck } from "../auth/session-token.ts";
import type { Usage } from "../auth/usage.ts";
import type { ReadText } from "../database/pipeline/read-text.ts";
import type { Renderer } from "../pdf/renderer.ts";
import type { Limits } from "../graphql/limits.ts";
import type { HeavyWork } from "../lib/heavy-work.ts";
import type { Readiness } from "../lib/readiness.ts";
import type { Availability } from "../versions/availability.ts";
import type { ServedVersion } from "../versions/serve-version.ts";
import type { Version } from "../versions/versions.ts";
import type { Metrics } from "./metrics.ts";
import type { Locales } from "./middleware/negotiate-locale.ts";
import type { Spending } from "./middleware/spend-points.ts";
import type { Refusals } from "./refusals.ts";
import type { UnreadAnswers } from "./unread-answers.ts";

/** What the middlewares need, opened elsewhere (src/process/open-app.ts). */
export interface Parts {
  settings: PartSettings;
  logger: Logger;
  /** What time it is, in milliseconds since 1970. */
  now: () => number;
  /** Connections of the login role. */
  pool: Pool;
  /** Reads a text straight from a connection, for reads answered by SQL; null when the driver doesn't allow it. */
  readText: ReadText | null;
  readiness: Readiness;
  metrics: Metrics;
  refusals: Refusals;
  /** All versions that there are. */
  versions: readonly Version[];
  served: readonly ServedVersion[];
  availability: Availability;
  locales: Locales;
  merchantPlan: CurrentMerchantPlan;
  tokens: AccessTokens;
  credentials: ActiveCredentials;
  isSessionToken: SessionCheck;
  usage: Usage;
  rates: RateLimits;
  meter: Meter;
  spending: Spending;
  heavyWork: HeavyWork;
  unread: UnreadAnswers;
  renderer: Renderer;
}

/** What of the settings the middlewares look at. */
export interface PartSettings {
  /** Whether to serve the explorer. */
  explorer: boolean;
  /** Where clients reach the service, when that differs from host and port. */
  publicUrl: string | undefined;
  /** Destinations of webhooks that are allowed beside those of the public internet. */
  webhookAllow: readonly string[];
  /** What operations and clients may ask for, where the plan says nothing else. */
  limits: Limits;
  /** Of a GraphQL request's body, in bytes. */
  maxBodyBytes: number;
  /** Of one client from one address. */
  tokenRequestsPerMinute: number;
  /** Which proxies are believed about the client's address, as Express has it. */
  trustProxy: string | number | false;
}
