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

/** One for events from the outbox, one for claims, one for results, one for renewals; or fewer, where they are scarce. */
const [connections, scarceConnections] = [4, 2];
/**
 * Milliseconds of a lease, which is renewed while a queue is worked on: how long work rests after a process was killed.
 * Long enough for Postgres or this process to stand still for a few seconds.
 */
const defaultLeaseMs = 8_000;
/** Milliseconds that a stop waits for running deliveries. */
const defaultStopTimeoutMs = 4_000;

export interface WebhookOptions {
  /** URL of the database, with the role that the service logs in as. */
  url: string;
  /** Deliveries at a time, always or at present. */
  concurrency: number | (() => number);
  /** Destinations that are allowed beside the public internet. */
  allowed: AllowList;
  readPayload: ReadPayload;
  /** Decrypts the secrets for signing; by default without keys. */
  secrets?: Secrets;
  logger: Logger;
  /** Opens connections where several services share a number of them. */
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

/** Begins to send. While the database can't be reached, it keeps trying. */
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
