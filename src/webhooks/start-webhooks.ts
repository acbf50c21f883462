import type { Logger } from "pino";
import { createBackgroundPool } from "../postgres/background-pool.ts";
import type { Allotment } from "../postgres/allotment.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Tracing } from "../tracing/tracing.ts";
import type { AllowList } from "./addresses.ts";
import { DeliveryQueues } from "./delivery-queues.ts";
import type { ReadPayload } from "./payload.ts";
import type { RetryClock } from "./retry-schedule.ts";
import { defaultClock } from "./retry-schedule.ts";
import { Sender } from "./sender.ts";
import { WebhookClient } from "./webhook-client.ts";
import { secretsReader } from "./webhook-secrets.ts";

/** One connection each for numbering events, claims, results and renewals; fewer where connections are scarce. */
const [connections, scarceConnections] = [4, 2];
/**
 * Milliseconds of a lease, which is renewed while a queue is in work. After a process was killed, its work waits this long.
 * Long enough to survive a few seconds in which Postgres or this process hangs.
 */
const defaultLeaseMs = 8_000;
/** Milliseconds that a stop waits for running deliveries. */
const defaultStopTimeoutMs = 4_000;

export interface WebhookOptions {
  /** Database URL with the service's login role. */
  url: string;
  /** Maximum number of concurrent deliveries, or a function that returns the current maximum. */
  concurrency: number | (() => number);
  /** Destinations that are allowed in addition to the public internet. */
  allowed: AllowList;
  readPayload: ReadPayload;
  /** Decrypts the signing secrets; without keys by default. */
  secrets?: Secrets;
  logger: Logger;
  /** Opens connections if several services share a limited number. */
  allotment?: Allotment;
  /** By default nothing is traced. */
  tracing?: Tracing | null;
  /** Called after each attempt. */
  onAttempt?: (outcome: string) => void;
  /** For tests. */
  clock?: RetryClock;
  now?: () => number;
  leaseMs?: number;
  timeoutMs?: number;
  stopTimeoutMs?: number;
}

/** Starts to send. While the database can't be reached, it keeps trying. */
export function startWebhooks(options: WebhookOptions): Sender {
  const { url, concurrency, allowed, logger, allotment, timeoutMs } = options;
  const { secrets = new Secrets([]), leaseMs = defaultLeaseMs } = options;
  const max = allotment ? scarceConnections : connections;
  const pool = createBackgroundPool(url, "service_delivery", max, "webhooks", {}, allotment);
  return new Sender({
    ...options,
    pool,
    queues: new DeliveryQueues(pool, leaseMs),
    leaseMs,
    client: new WebhookClient({ allowed, timeoutMs }),
    tracing: options.tracing ?? null,
    readSecrets: secretsReader(secrets, logger),
    clock: options.clock ?? defaultClock,
    now: options.now ?? Date.now,
    concurrency: typeof concurrency === "number" ? () => concurrency : concurrency,
    stopTimeoutMs: options.stopTimeoutMs ?? defaultStopTimeoutMs,
    onAttempt: options.onAttempt ?? (() => {}),
  });
}
