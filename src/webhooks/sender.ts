import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { within } from "../lib/within.ts";
import { attempt, untried } from "./attempt.ts";
import type { Attempted, AttemptTools } from "./attempt.ts";
import { Signal } from "../lib/signal.ts";
import type { Delivery, DeliveryQueues } from "./delivery-queues.ts";
import { Leases } from "./leases.ts";
import { retryForever } from "./retry-forever.ts";
import { Recorder } from "./recorder.ts";
import type { RetryClock } from "./retry.ts";
import { UnderWay } from "./under-way.ts";

/** Milliseconds between two looks for work. */
const pollIntervalMs = 250;
/** Events that are taken from the outbox at a time. */
const sequenceBatch = 500;
/** Deliveries after which a queue gives others a turn. */
const maxDeliveriesPerTurn = 50;
/** Milliseconds after which results are stored: what is sent in this time comes again when the process is killed. */
const turnMs = 500;
/** Milliseconds for storing the results of aborted attempts at a stop. */
const finalNotesTimeoutMs = 2_000;

/** Renewals in the time of a lease. */
const renewalsPerLease = 4;

export interface SenderOptions extends Omit<AttemptTools, "isHeld"> {
  queues: DeliveryQueues;
  /** Milliseconds for which queues are leased. */
  leaseMs: number;
  clock: RetryClock;
  /** Deliveries at a time, at present. */
  concurrency: () => number;
  logger: Logger;
  /** Milliseconds that a stop waits for running deliveries. */
  stopTimeoutMs: number;
  /** Called after each attempt. */
  onAttempt: (outcome: string) => void;
  /** Aborts running requests. */
  breakOff: () => void;
}

/** Sends due messages until it is stopped. Any number of processes can do so at the same time. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #recorder: Recorder;
  readonly #wakeUp = new Signal();
  readonly #givingUp = new AbortController();
  readonly #ended = new AbortController();
  readonly #work = new Set<Promise<void>>();
  readonly #underWay = new UnderWay();
  readonly #leases: Leases;
  readonly #tools: AttemptTools;
  #isBrokenOff = false;
  #workedAt = performance.now();
  #hasWorked = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#leases = new Leases(options.leaseMs);
    // At a stop, unsent deliveries are returned
    const isHeld = (delivery: Delivery) => !this.#isBrokenOff && this.#leases.isHeld(delivery);
    this.#tools = { ...options, isHeld };
    this.#recorder = new Recorder({ ...options, givingUp: this.#givingUp.signal });
  }

  /** Deliveries that are being made. */
  get busy(): number {
    return this.#underWay.size;
  }

  /** For how many milliseconds there has been nothing to do. */
  get idleMs(): number {
    return this.#work.size > 0 ? 0 : performance.now() - this.#workedAt;
  }

  /** Whether there has been anything to do. */
  get hasWorked(): boolean {
    return this.#hasWorked;
  }

  /**
   * Works until it is stopped. Then it lets running deliveries end, or returns them.
   *
   * @param resting when aborted, it begins nothing more, and ends with its last delivery
   */
  async run(stopping: AbortSignal, resting: AbortSignal = stopping): Promise<void> {
    const renewing = this.#renew(this.#ended.signal);
    try {
      await Promise.all([this.#sequence(resting), this.#claim(resting)]);
      const stopped = new Promise((resolve) => stopping.addEventListener("abort", resolve, { once: true }));
      if (!stopping.aborted) await Promise.race([stopped, Promise.all(this.#work)]);
      await this.#finish(Promise.all(this.#work));
    } finally {
      this.#ended.abort();
      await within(finalNotesTimeoutMs, renewing);
    }
  }

  async #finish(all: Promise<unknown>): Promise<void> {
    if (await within(this.#options.stopTimeoutMs, all)) return;
    this.#isBrokenOff = true;
    this.#options.breakOff();
    if (await within(finalNotesTimeoutMs, all)) return;
    this.#givingUp.abort();
    await within(finalNotesTimeoutMs, all);
  }

  /** Renews the leases of running work, so that leases can be short and others soon replace a killed process. */
  async #renew(ended: AbortSignal): Promise<void> {
    const { queues, leaseMs, logger } = this.#options;
    const pause = new Signal();
    while (!ended.aborted) {
      await pause.wait(leaseMs / renewalsPerLease, ended);
      const claims = this.#leases.claims();
      if (ended.aborted || claims.length === 0) continue;
      const moment = this.#leases.now();
      try {
        this.#leases.renewed(await queues.renew(claims), moment);
      } catch (error) {
        logger.warn({ err: error }, "webhooks: can't renew leases; trying again");
      }
    }
  }

  async #sequence(stopping: AbortSignal): Promise<void> {
    const { queues, logger } = this.#options;
    const pause = new Signal();
    while (!stopping.aborted) {
      const moved = await retryForever("take events", () => queues.sequence(sequenceBatch), logger, stopping);
      if (moved) this.#noteWork();
      if (moved) this.#wakeUp.notify();
      if (moved !== sequenceBatch) await pause.wait(pollIntervalMs, stopping);
    }
  }

  async #claim(stopping: AbortSignal): Promise<void> {
    const { queues, logger } = this.#options;
    while (!stopping.aborted) {
      const concurrency = this.#options.concurrency();
      // A subscription with a slow receiver leaves room for others, and so do all of one credential
      const share = Math.max(Math.ceil(concurrency / 4), 1);
      const credentialShare = Math.max(Math.ceil((3 * concurrency) / 4), 1);
      const wanted = concurrency - this.#underWay.size;
      let moment = this.#leases.now();
      const take = () => {
        moment = this.#leases.now();
        const counts = this.#underWay.counts();
        return queues.claim({ claim: randomUUID(), wanted, share, credentialShare, ...counts });
      };
      const claimed =
        wanted > 0 ? ((await retryForever("take deliveries", take, logger, stopping)) ?? []) : [];
      for (const delivery of claimed) {
        this.#leases.begin(delivery, moment);
        this.#underWay.begin(delivery);
        const work = this.#deliver(delivery, stopping).finally(() => {
          this.#work.delete(work);
          this.#underWay.end(delivery);
          this.#leases.end(delivery);
          this.#noteWork();
          this.#wakeUp.notify();
        });
        this.#work.add(work);
      }
      await this.#wakeUp.wait(pollIntervalMs, stopping);
    }
  }

  #noteWork(): void {
    this.#workedAt = performance.now();
    this.#hasWorked = true;
  }

  /** Sends the messages of a queue, one after the other. */
  async #deliver(queue: Delivery, stopping: AbortSignal): Promise<void> {
    let next: Delivery | null = queue;
    for (let count = 0; next;) {
      const attempts = await this.#attemptInTurn(queue, next, stopping);
      count += attempts.length;
      const moment = this.#leases.now();
      next = await this.#recorder.record(attempts, count < maxDeliveriesPerTurn && !stopping.aborted);
      // Storing a result renews the lease
      if (next) this.#leases.renewed([next], moment);
    }
  }

  /**
   * Sends a message, and those that follow while each is accepted. Their results are stored together: that waits for locks, and so
   * takes longer than a receiver while many events come.
   */
  async #attemptInTurn(queue: Delivery, first: Delivery, stopping: AbortSignal): Promise<Attempted[]> {
    const attempts: Attempted[] = [];
    const end = performance.now() + turnMs;
    for (let next: Delivery | null = first; next;) {
      this.#underWay.begin(queue);
      const attempted = await this.#attempt(next);
      const { outcome, attempt } = attempted;
      if (outcome || attempt) this.#options.onAttempt(outcome?.kind ?? "failed");
      const count = attempts.push(attempted);
      const isOver = outcome?.kind !== "delivered" || performance.now() > end || stopping.aborted;
      const mayFollow = !isOver && count <= (first.following?.length ?? 0);
      // Storing the results fails, too, while the database is away, and is repeated
      next = mayFollow ? await this.#options.queues.behind(next).catch(() => null) : null;
    }
    return attempts;
  }

  async #attempt(delivery: Delivery): Promise<Attempted> {
    const { logger, now } = this.#options;
    let attempted: Attempted;
    try {
      attempted = await attempt(delivery, this.#tools);
    } catch (error) {
      logger.error({ err: error, delivery: delivery.delivery_id }, "webhooks: unexpected error");
      attempted = {
        ...{ delivery, outcome: null, retryAfterMs: null },
        attempt: {
          ...{
            at: new Date(now()).toISOString(),
            duration_ms: 0,
            error: "Something went wrong on our side.",
          },
          ...{ status: null, request_headers: {}, response_headers: null, response_body: null },
        },
      };
    }
    // An attempt that we aborted says nothing about the receiver
    const wasBrokenOff = this.#isBrokenOff && attempted.outcome?.kind === "failed";
    return wasBrokenOff ? untried(delivery) : attempted;
  }
}
