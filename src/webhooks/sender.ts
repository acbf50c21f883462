import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { within } from "../worker/within.ts";
import { attempt } from "./attempt.ts";
import type { Attempted, AttemptTools } from "./attempt.ts";
import { Bell } from "./bell.ts";
import type { Delivery, Lanes } from "./lanes.ts";
import { persist } from "./persist.ts";
import { Recorder } from "./recorder.ts";
import type { RetryClock } from "./retry.ts";

/** Milliseconds after which it is looked whether there is something to do. */
const pollInterval = 250;
/** Events that are taken from the outbox at a time. */
const sequenceBatch = 500;
/** Deliveries after which a lane lets others have their turn. */
const laneTurn = 50;
/** Milliseconds that noting what was broken off may take, when all is to stop. */
const lastWords = 2_000;

export interface SenderOptions extends AttemptTools {
  lanes: Lanes;
  clock: RetryClock;
  /** Deliveries at a time. */
  concurrency: number;
  logger: Logger;
  /** Milliseconds that deliveries under way are waited for when all is to stop. */
  patience: number;
  /** Told what came of each attempt. */
  onAttempt: (outcome: string) => void;
  /** Breaks off what is being sent. */
  breakOff: () => void;
}

/** Sends what is due, until it is to stop. Any number of processes can do so at the same time. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #recorder: Recorder;
  readonly #bell = new Bell();
  readonly #givingUp = new AbortController();
  readonly #under = new Set<Promise<void>>();
  /** How many lanes of each subscription are under way. */
  readonly #busy = new Map<string, number>();
  #isBrokenOff = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#recorder = new Recorder({ ...options, givingUp: this.#givingUp.signal });
  }

  /** Works until it is to stop. Then it lets what is under way end, or gives it back. */
  async run(stopping: AbortSignal): Promise<void> {
    await Promise.all([this.#sequence(stopping), this.#claim(stopping)]);
    const all = Promise.all(this.#under);
    if (await within(this.#options.patience, all)) return;
    this.#isBrokenOff = true;
    this.#options.breakOff();
    if (await within(lastWords, all)) return;
    this.#givingUp.abort();
    await within(lastWords, all);
  }

  async #sequence(stopping: AbortSignal): Promise<void> {
    const { lanes, logger } = this.#options;
    const pause = new Bell();
    while (!stopping.aborted) {
      const moved = await persist("take events", () => lanes.sequence(sequenceBatch), logger, stopping);
      if (moved) this.#bell.ring();
      if (moved !== sequenceBatch) await pause.wait(pollInterval, stopping);
    }
  }

  async #claim(stopping: AbortSignal): Promise<void> {
    const { lanes, concurrency, logger } = this.#options;
    // One subscription whose receiver is slow leaves room for others
    const share = Math.max(Math.ceil(concurrency / 4), 1);
    while (!stopping.aborted) {
      const free = concurrency - this.#under.size;
      const take = () => lanes.claim(randomUUID(), free, share, this.#busy);
      const claimed = free > 0 ? ((await persist("take deliveries", take, logger, stopping)) ?? []) : [];
      for (const delivery of claimed) {
        this.#count(delivery, 1);
        const work = this.#work(delivery, stopping).finally(() => {
          this.#under.delete(work);
          this.#count(delivery, -1);
          this.#bell.ring();
        });
        this.#under.add(work);
      }
      await this.#bell.wait(pollInterval, stopping);
    }
  }

  #count({ subscription_id: id }: Delivery, change: 1 | -1): void {
    const count = (this.#busy.get(id) ?? 0) + change;
    if (count === 0) this.#busy.delete(id);
    else this.#busy.set(id, count);
  }

  /** Delivers what waits in a lane, one after the other. */
  async #work(first: Delivery, stopping: AbortSignal): Promise<void> {
    let next: Delivery | null = first;
    for (let count = 1; next; count++) {
      const attempted = await this.#attempt(next);
      this.#options.onAttempt(attempted.outcome?.kind ?? "failed");
      next = await this.#recorder.record(attempted, count < laneTurn && !stopping.aborted);
    }
  }

  async #attempt(delivery: Delivery): Promise<Attempted> {
    const { logger, now } = this.#options;
    let attempted: Attempted;
    try {
      attempted = await attempt(delivery, this.#options);
    } catch (error) {
      logger.error({ err: error, delivery: delivery.delivery_id }, "webhooks: unexpected error");
      attempted = {
        ...{ delivery, outcome: null, wish: null },
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
    // What we broke off ourselves says nothing about the receiver
    const wasBrokenOff = this.#isBrokenOff && attempted.outcome?.kind === "failed";
    return wasBrokenOff ? { delivery, outcome: null, attempt: null, wish: null } : attempted;
  }
}
