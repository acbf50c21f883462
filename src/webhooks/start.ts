import type { Logger } from "pino";
import { createBackgroundPool } from "../postgres/background-pool.ts";
import type { Allotment } from "../postgres/connection-budget.ts";
import { within } from "../lib/within.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Tracing } from "../tracing/tracing.ts";
import type { AllowList } from "./addresses.ts";
import { DeliveryQueues } from "./delivery-queues.ts";
import type { ReadPayload } from "./payload.ts";
import { WebhookClient } from "./webhook-client.ts";
import type { RetryClock } from "./retry.ts";
import { defaultClock } from "./retry.ts";
import { secretsReader } from "./secrets.ts";
import { Sender } from "./sender.ts";

/** One for events from the outbox, one for claims, one for results, one for renewals; or fewer, where they are scarce. */
const [connections, scarceConnections] = [4, 2];
/**
 * Milliseconds of a lease, which is renewed while a queue is worked on: how long work rests after a process was killed.
 * Long enough for Postgres or this process to stand still for a few seconds.
 */
const defaultLeaseMs = 8_000;
/** Milliseconds that a stop waits for running deliveries. */
const defaultStopTimeoutMs = 4_000;
/** Milliseconds that running deliveries may take before a rest. Longer than a receiver may. */
const restTimeoutMs = 20_000;
/** Milliseconds that closing connections may take. */
const closingTimeoutMs = 1_000;

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
  /** What opens connections, where several merchants share a number of them. */
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

/** The running sender. */
export interface Webhooks {
  /** Deliveries that are being made. */
  readonly busy: number;
  /** For how many milliseconds there has been nothing to do. */
  readonly idleMs: number;
  /** Whether there has been anything to do. */
  readonly hasWorked: boolean;
  /** Lets running deliveries end, for some seconds, or returns them. */
  stop(): Promise<void>;
  /** Begins no more deliveries, lets running ones end, and stops. */
  rest(): Promise<void>;
}

/** Begins to send. While the database can't be reached, it keeps trying. */
export function startWebhooks(options: WebhookOptions): Webhooks {
  const { url, concurrency, allowed, readPayload, logger, allotment, timeoutMs } = options;
  const {
    secrets = new Secrets([]),
    clock = defaultClock,
    now = Date.now,
    leaseMs = defaultLeaseMs,
    onAttempt = () => {},
    tracing = null,
    stopTimeoutMs = defaultStopTimeoutMs,
  } = options;
  const max = allotment ? scarceConnections : connections;
  const pool = createBackgroundPool(url, "service_delivery", max, "webhooks", {}, allotment);
  const client = new WebhookClient({ allowed, timeoutMs });
  const sender = new Sender({
    ...{
      queues: new DeliveryQueues(pool, leaseMs),
      leaseMs,
      client,
      tracing,
      readPayload,
      readSecrets: secretsReader(secrets, logger),
      clock,
      now,
      concurrency: typeof concurrency === "number" ? () => concurrency : concurrency,
      logger,
      stopTimeoutMs,
    },
    onAttempt,
    breakOff: () => client.close(),
  });
  return run(
    sender,
    async () => {
      client.close();
      await within(closingTimeoutMs, pool.end());
    },
    logger,
  );
}

/** @param close closes what it used, after its end */
function run(sender: Sender, close: () => Promise<void>, logger: Logger): Webhooks {
  const [stopping, resting] = [new AbortController(), new AbortController()];
  const ended = sender
    .run(stopping.signal, resting.signal)
    .catch((error: unknown) => logger.error({ err: error }, "webhooks: sending ended unexpectedly"))
    .then(close);
  const stop = () => {
    resting.abort();
    stopping.abort();
    return ended;
  };
  return {
    get busy() {
      return sender.busy;
    },
    get idleMs() {
      return sender.idleMs;
    },
    get hasWorked() {
      return sender.hasWorked;
    },
    stop,
    async rest() {
      resting.abort();
      await within(restTimeoutMs, ended);
      await stop();
    },
  };
}
