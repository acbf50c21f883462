import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { keepTrying, pause } from "../lib/retry.ts";
import { Signal } from "../lib/signal.ts";
import { settlesWithin } from "../lib/within.ts";
import { attempt, notAttempted } from "./attempt.ts";
import type { AttemptResult, AttemptTools } from "./attempt.ts";
import { ClaimedQueues } from "./claimed-queues.ts";
import type { Delivery, DeliveryQueues } from "./delivery-queues.ts";
import { Recorder } from "./recorder.ts";
import type { RetryClock } from "./retry-schedule.ts";
import type { WebhookClient } from "./webhook-client.ts";

/** Milliseconds between polls for work. */
const pollIntervalMs = 250;
/** Events that are taken from the outbox at a time. */
const sequenceBatch = 500;
/** Deliveries after which a queue yields to other queues. */
const maxDeliveriesPerTurn = 50;
/** Milliseconds after which results are stored. If the process is killed before, messages of this time are sent again. */
const storeAfterMs = 500;
/** Milliseconds that a stop waits for storing the results of aborted attempts. */
const storeResultsTimeoutMs = 2_000;
/** Milliseconds that `rest` waits for running deliveries. Longer than the timeout of a receiver. */
const restTimeoutMs = 20_000;
/** Milliseconds that closing connections may take. */
const closingTimeoutMs = 1_000;
/** Renewals in the time of a lease. */
const renewalsPerLease = 4;

export interface SenderOptions extends Omit<AttemptTools, "isHeld"> {
  /** The connections of `queues`. */
  pool: Pool;
  queues: DeliveryQueues;
  client: WebhookClient;
  /** Milliseconds for which queues are leased. */
  leaseMs: number;
  clock: RetryClock;
  /** Maximum number of concurrent deliveries, at the moment. */
  concurrency: () => number;
  logger: Logger;
  /** Milliseconds that a stop waits for running deliveries. */
  stopTimeoutMs: number;
  /** Called after each attempt. */
  onAttempt: (outcome: string) => void;
}

/** Sends due messages until it is stopped. Any number of processes can have a sender. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #recorder: Recorder;
  readonly #wakeUp = new Signal();
  /** Aborted when no further deliveries begin. */
  readonly #resting = new AbortController();
  readonly #stopping = new AbortController();
  readonly #givingUp = new AbortController();
  readonly #work = new Set<Promise<void>>();
  readonly #claimed: ClaimedQueues;
  readonly #tools: AttemptTools;
  readonly #ended: Promise<void>;
  #isAborted = false;
  #workedAt = performance.now();
  #hasWorked = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#claimed = new ClaimedQueues(options.leaseMs);
    // At a stop, deliveries that haven't been sent are returned to their queues
    const isHeld = (delivery: Delivery) => !this.#isAborted && this.#claimed.isHeld(delivery);
    this.#tools = { ...options, isHeld };
    this.#recorder = new Recorder({ ...options, giveUp: this.#givingUp.signal });
    this.#ended = this.#run()
      .catch((error: unknown) => options.logger.error({ err: error }, "webhooks: sending ended unexpectedly"))
      .then(() => this.#close());
  }

  /** Number of running deliveries. */
  get busy(): number {
    return this.#claimed.size;
  }

  /** Milliseconds without work. */
  get idleMs(): number {
    return this.#work.size > 0 ? 0 : performance.now() - this.#workedAt;
  }

  /** Whether there has been any work. */
  get hasWorked(): boolean {
    return this.#hasWorked;
  }

  /** Stops. Running deliveries have some seconds to end; the others are returned to their queues. */
  stop(): Promise<void> {
    this.#resting.abort();
    this.#stopping.abort();
    return this.#ended;
  }

  /** Lets running deliveries end, begins no others, then stops. */
  async rest(): Promise<void> {
    this.#resting.abort();
    await settlesWithin(restTimeoutMs, this.#ended);
    await this.stop();
  }

  async #run(): Promise<void> {
    const ended = new AbortController();
    const renewing = this.#renew(ended.signal);
    try {
      await Promise.all([this.#sequence(this.#resting.signal), this.#claim(this.#resting.signal)]);
      const { signal: stopping } = this.#stopping;
      if (!stopping.aborted) await Promise.race([once(stopping, "abort"), Promise.all(this.#work)]);
      await this.#finish(Promise.all(this.#work));
    } finally {
      ended.abort();
      await settlesWithin(storeResultsTimeoutMs, renewing);
    }
  }

  async #finish(all: Promise<unknown>): Promise<void> {
    if (await settlesWithin(this.#options.stopTimeoutMs, all)) return;
    this.#isAborted = true;
    this.#options.client.close();
    if (await settlesWithin(storeResultsTimeoutMs, all)) return;
    this.#givingUp.abort();
    await settlesWithin(storeResultsTimeoutMs, all);
  }

  async #close(): Promise<void> {
    this.#options.client.close();
    await settlesWithin(closingTimeoutMs, this.#options.pool.end());
  }

  /** Renews the leases of running work. Leases can thus be short, and other processes soon replace a killed one. */
  async #renew(ended: AbortSignal): Promise<void> {
    const { queues, leaseMs, logger } = this.#options;
    // This timer keeps a process alive that only sends, even while the database is away. Timers of `pause` don't
    const timer = new Signal();
    while (!ended.aborted) {
      await timer.wait(leaseMs / renewalsPerLease, ended);
      const { claims } = this.#claimed;
      if (ended.aborted || claims.length === 0) continue;
      const moment = this.#claimed.now();
      try {
        this.#claimed.noteRenewal(await queues.renew(claims), moment);
      } catch (error) {
        logger.warn({ err: error }, "webhooks: can't renew leases; trying again");
      }
    }
  }

  /** Moves committed events into the log. */
  async #sequence(resting: AbortSignal): Promise<void> {
    const { queues, logger } = this.#options;
    const trying = { logger, message: "webhooks: can't number events", signal: resting };
    while (!resting.aborted) {
      const moved = await keepTrying(() => queues.sequence(sequenceBatch), trying);
      if (moved) {
        this.#noteWork();
        this.#wakeUp.notify();
      }
      if (moved !== sequenceBatch) await pause(pollIntervalMs, resting);
    }
  }

  /** Claims queues with due deliveries, and starts to deliver them. */
  async #claim(resting: AbortSignal): Promise<void> {
    const { queues, logger } = this.#options;
    const trying = { logger, message: "webhooks: can't claim deliveries", signal: resting };
    while (!resting.aborted) {
      const concurrency = this.#options.concurrency();
      // One subscription with a slow receiver can't take all places, nor can all subscriptions of one API credential
      const share = Math.max(Math.ceil(concurrency / 4), 1);
      const credentialShare = Math.max(Math.ceil((3 * concurrency) / 4), 1);
      const wanted = concurrency - this.#claimed.size;
      let moment = this.#claimed.now();
      const take = () => {
        moment = this.#claimed.now();
        const { counts } = this.#claimed;
        return queues.claim({ claim: randomUUID(), maxQueues: wanted, share, credentialShare, ...counts });
      };
      const claimed = wanted > 0 ? await keepTrying(take, trying) : null;
      for (const delivery of claimed ?? []) {
        this.#claimed.begin(delivery, moment);
        const work = this.#deliver(delivery, resting).finally(() => {
          this.#work.delete(work);
          this.#claimed.end(delivery);
          this.#noteWork();
          this.#wakeUp.notify();
        });
        this.#work.add(work);
      }
      await this.#wakeUp.wait(pollIntervalMs, resting);
    }
  }

  #noteWork(): void {
    this.#workedAt = performance.now();
    this.#hasWorked = true;
  }

  /** Sends the messages of a queue, one after the other. */
  async #deliver(queue: Delivery, resting: AbortSignal): Promise<void> {
    let next: Delivery | null = queue;
    for (let count = 0; next;) {
      const attempts = await this.#attemptSeveral(queue, next, resting);
      count += attempts.length;
      const moment = this.#claimed.now();
      next = await this.#recorder.record(attempts, count < maxDeliveriesPerTurn && !resting.aborted);
      // Storing a result renews the lease
      if (next) this.#claimed.noteRenewal([next], moment);
    }
  }

  /**
   * Sends a message, and then the following ones while each is accepted. Their results are stored together: storing waits
   * for locks, so with many events it takes longer than sending.
   */
  async #attemptSeveral(queue: Delivery, first: Delivery, resting: AbortSignal): Promise<AttemptResult[]> {
    const attempts: AttemptResult[] = [];
    const end = performance.now() + storeAfterMs;
    for (let next: Delivery | null = first; next;) {
      this.#claimed.noteAttempt(queue);
      const attempted = await this.#attempt(next);
      const { outcome, attempt } = attempted;
      if (outcome || attempt) this.#options.onAttempt(outcome?.kind ?? "failed");
      const count = attempts.push(attempted);
      const isOver = outcome?.kind !== "delivered" || performance.now() > end || resting.aborted;
      const mayFollow = !isOver && count <= (first.following?.length ?? 0);
      // If this fails because the database is away, storing the results fails as well, and is retried
      next = mayFollow ? await this.#options.queues.nextDelivery(next).catch(() => null) : null;
    }
    return attempts;
  }

  async #attempt(delivery: Delivery): Promise<AttemptResult> {
    const attempted = await attempt(delivery, this.#tools);
    // An attempt that we aborted says nothing about the receiver
    return this.#isAborted && attempted.outcome?.kind === "failed" ? notAttempted(delivery) : attempted;
  }
}
