import type { Logger } from "pino";
import type { Attempted } from "./attempt.ts";
import { keepTrying } from "../lib/retry.ts";
import type { Delivery, DeliveryQueues } from "./delivery-queues.ts";
import type { RetryClock } from "./retry-schedule.ts";
import { judge } from "./verdict.ts";

export interface RecorderOptions {
  queues: DeliveryQueues;
  clock: RetryClock;
  /** In milliseconds since 1970. */
  now: () => number;
  logger: Logger;
  /** Aborts storing results. Messages whose results aren't stored are sent once more, later. */
  givingUp: AbortSignal;
}

interface Waiting {
  /** Attempts of one queue, in order. All but the last were delivered. */
  attempts: Attempted[];
  goesOn: boolean;
  resolve: (next: Delivery | null) => void;
}

const queueOf = ({ subscription_id, entity_id }: Delivery): string => `${subscription_id} ${entity_id}`;

/** Stores results in batches: those that arrive during one transaction are stored by the next. */
export class Recorder {
  readonly #options: RecorderOptions;
  #waiting: Waiting[] = [];
  #isBusy = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /**
   * Stores the results of a queue, however long that takes. Returns its next delivery, if the queue continues.
   *
   * @param attempts in order; all but the last were delivered
   * @param goesOn whether this process keeps the queue
   */
  record(attempts: Attempted[], goesOn: boolean): Promise<Delivery | null> {
    return new Promise((resolve) => {
      this.#waiting.push({ attempts, goesOn, resolve });
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      const next = await this.#note(batch);
      for (const { attempts, resolve } of batch) resolve(next.get(queueOf(attempts[0]!.delivery)) ?? null);
    }
    this.#isBusy = false;
  }

  /** Takes one entry of each queue. A queue has several entries only if a claim was lost. */
  #takeBatch(): Waiting[] {
    const queues = new Map<string, Waiting>();
    const later: Waiting[] = [];
    for (const each of this.#waiting) {
      const queue = queueOf(each.attempts[0]!.delivery);
      if (queues.has(queue)) later.push(each);
      else queues.set(queue, each);
    }
    this.#waiting = later;
    return [...queues.values()];
  }

  async #note(batch: Waiting[]): Promise<Map<string, Delivery>> {
    const { queues, clock, now, logger, givingUp } = this.#options;
    const attempts = batch.flatMap((each) => each.attempts);
    const goingOn = new Set(batch.filter((each) => each.goesOn).map((each) => each.attempts.at(-1)));
    const subscriptions = [...new Set(attempts.map(({ delivery }) => delivery.subscription_id))];
    const note = () =>
      queues.record(subscriptions, (before) =>
        judge(attempts, before, now(), clock, (each) => goingOn.has(each)),
      );
    const message = "webhooks: can't store results";
    const next = (await keepTrying(note, { logger, message, signal: givingUp })) ?? [];
    return new Map(next.map((delivery) => [queueOf(delivery), delivery]));
  }
}
