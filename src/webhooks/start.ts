import type { Logger } from "pino";
import { createBackgroundPool } from "../database/background-pool.ts";
import { within } from "../lib/within.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { AllowList } from "./addresses.ts";
import { DeliveryQueues } from "./delivery-queues.ts";
import type { ReadPayload } from "./payload.ts";
import { WebhookClient } from "./webhook-client.ts";
import type { RetryClock } from "./retry.ts";
import { defaultClock } from "./retry.ts";
import { secretsReader } from "./secrets.ts";
import { Sender } from "./sender.ts";

/** One takes events from the outbox, one takes deliveries, one notes results, one renews leases. */
const connections = 4;
/**
 * Milliseconds for which a queue is taken, and renewed while it is worked on: how long nobody works on it when a process
 * was killed. Long enough for Postgres or this process to stand still for a few seconds.
 */
const defaultLeaseMs = 8_000;
/** Milliseconds that deliveries under way are waited for when all is to stop. */
const defaultStopTimeoutMs = 4_000;
/** Milliseconds that closing connections may take. */
const closingTimeoutMs = 1_000;

export interface WebhookOptions {
  /** The database, as the role that the service logs in with. */
  url: string;
  /** Deliveries at a time. */
  concurrency: number;
  /** Destinations that are allowed beside those of the public internet. */
  allowed: AllowList;
  readPayload: ReadPayload;
  /** Reads what deliveries are signed with; without keys unless given. */
  secrets?: Secrets;
  logger: Logger;
  /** Told what came of each attempt. */
  onAttempt?: (outcome: string) => void;
  /** For tests. */
  clock?: RetryClock;
  now?: () => number;
  leaseMs?: number;
  timeoutMs?: number;
  stopTimeoutMs?: number;
}

/** Webhooks that are being sent. */
export interface Webhooks {
  /** Lets deliveries under way end, for some seconds, or gives them back. */
  stop(): Promise<void>;
}

/** Begins to send what is due. While the database can't be reached, it keeps trying. */
export function startWebhooks(options: WebhookOptions): Webhooks {
  const { url, concurrency, allowed, readPayload, logger, timeoutMs } = options;
  const {
    secrets = new Secrets([]),
    clock = defaultClock,
    now = Date.now,
    leaseMs = defaultLeaseMs,
    onAttempt = () => {},
    stopTimeoutMs = defaultStopTimeoutMs,
  } = options;
  const pool = createBackgroundPool(url, "service_delivery", connections, "webhooks");
  const client = new WebhookClient({ allowed, timeoutMs });
  const sender = new Sender({
    ...{
      queues: new DeliveryQueues(pool, leaseMs),
      leaseMs,
      client,
      readPayload,
      readSecrets: secretsReader(secrets, logger),
      clock,
      now,
      concurrency,
      logger,
      stopTimeoutMs,
    },
    onAttempt,
    breakOff: () => client.close(),
  });
  const stop = new AbortController();
  const ended = sender.run(stop.signal).catch((error: unknown) => {
    logger.error({ err: error }, "webhooks: sending ended unexpectedly");
  });
  return {
    async stop() {
      stop.abort();
      await ended;
      client.close();
      await within(closingTimeoutMs, pool.end());
    },
  };
}
