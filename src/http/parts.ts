import type { Pool } from "pg";
import type { Logger } from "pino";
import type { AccessTokens } from "../auth/access-token.ts";
import type { ActiveCredentials } from "../auth/active-credentials.ts";
import type { CurrentMerchantPlan } from "../auth/merchant-plan.ts";
import type { Meter } from "../auth/rate-limits/meter.ts";
import type { RateLimits } from "../auth/rate-limits/rate-limits.ts";
import type { SessionCheck } from "../auth/session-token.ts";
import type { StoredOperations } from "../auth/stored-operations.ts";
import type { Usage } from "../auth/usage.ts";
import type { UploadTools } from "../bulk/upload.ts";
import type { ReadRows } from "../postgres/pipeline/read-text.ts";
import type { ReadFromReplica, Replicas } from "../replicas/replicas.ts";
import type { SendTransactions } from "../postgres/pipeline/send-together.ts";
import type { Live } from "../live/live.ts";
import type { FindPage } from "../documentation/documentation.ts";
import type { Renderer } from "../pdf/renderer.ts";
import type { Limits } from "../graphql/limits.ts";
import type { SchemaWork } from "../graphql/schema-thread.ts";
import type { EventLoopQueue } from "../lib/event-loop-queue.ts";
import type { Readiness } from "../lib/readiness.ts";
import type { Tracing } from "../tracing/tracing.ts";
import type { Availability } from "../versions/availability.ts";
import type { ServedVersion } from "../versions/serve-version.ts";
import type { Version } from "../versions/versions.ts";
import type { Admission } from "./admission.ts";
import type { Metrics } from "./metrics.ts";
import type { Locales } from "./middleware/reading/negotiate-locale.ts";
import type { Spending } from "./middleware/limits/spend-points.ts";
import type { Refusals } from "./middleware/observing/refusals.ts";
import type { UnreadResponses } from "./middleware/limits/unread-answers.ts";

/** Resources that the middlewares use, opened by src/process/open-parts.ts. */
export interface Parts {
  settings: PartSettings;
  logger: Logger;
  /** The time in milliseconds since 1970. */
  now: () => number;
  /** Connections of the login role. */
  pool: Pool;
  /** Reads by one statement; null if that is switched off. */
  readText: ReadFromReplica | null;
  /** Reads rows with several columns by one statement; null if that is switched off. */
  readRows: ReadRows | null;
  /** Runs mutations and reads their payloads by one message; null if that is switched off. */
  sendTogether: SendTransactions | null;
  /** Answers reads from standbys; null without any. */
  replicas: Replicas | null;
  readiness: Readiness;
  metrics: Metrics;
  /** Null if nothing is traced. */
  tracing: Tracing | null;
  refusals: Refusals;
  /** All existing versions. */
  versions: readonly Version[];
  served: readonly ServedVersion[];
  availability: Availability;
  locales: Locales;
  merchantPlan: CurrentMerchantPlan;
  tokens: AccessTokens;
  credentials: ActiveCredentials;
  storedOperations: StoredOperations;
  admission: Admission;
  /** Reads cached rights again, after this process has changed some. */
  outdateRights: () => void;
  isSessionToken: SessionCheck;
  usage: Usage;
  rates: RateLimits;
  meter: Meter;
  spending: Spending;
  /** The queue in which clients take turns on the event loop. */
  turns: EventLoopQueue;
  thread: SchemaWork;
  unread: UnreadResponses;
  renderer: Pick<Renderer, "render">;
  live: Live;
  documentation: FindPage;
  /** The tools for uploads of files. */
  bulk: UploadTools;
}

/** Settings that the middlewares read. */
export interface PartSettings {
  /** Whether to serve the explorer. */
  explorer: boolean;
  /** Origins of web pages that may use the API; `*` for all. */
  corsOrigins: readonly string[];
  /** The address that clients use, if it differs from host and port. */
  publicUrl: string | undefined;
  /** Host names that may be in that address if it isn't set. */
  hosts: readonly string[];
  /** Webhook destinations that are allowed besides the public internet. */
  webhookAllow: readonly string[];
  /** Limits for operations and clients, unless the plan overrides them. */
  limits: Limits;
  /** Whether to log a line for each request to the GraphQL endpoint. */
  logRequests: boolean;
  /** The milliseconds from which a request is logged in any case. */
  slowMs: number;
  /** The maximum length of a GraphQL request's body in bytes. */
  maxBodyBytes: number;
  /** Token requests per minute of one client from one address. */
  tokenRequestsPerMinute: number;
  /** Proxies that are trusted about the client's address, in the form of Express. */
  trustProxy: string | number | false;
}
