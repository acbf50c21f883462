import type { Logger } from "pino";
import type { AttemptResult } from "./attempt.ts";
import { keepTrying } from "../lib/retry.ts";
import type { Delivery, DeliveryQueues } from "./delivery-queues.ts";
import type { RetryClock } from "./retry-schedule.ts";
import { judgeAttempts } from "./verdict.ts";

export interface RecorderOptions {
  queues: DeliveryQueues;
  clock: RetryClock;
  /** In milliseconds since 1970. */
  now: () => number;
  logger: Logger;
  /** Aborts storing results. Messages whose results aren't stored are sent once more, later. */
  giveUp: AbortSignal;
}

interface PendingResults {
  /** Attempts of one queue, in order. All but the last were delivered. */
  attempts: AttemptResult[];
  keepsQueue: boolean;
  resolve: (next: Delivery | null) => void;
}

const queueKey = ({ subscription_id, entity_id }: Delivery): string => `${subscription_id} ${entity_id}`;

/** Stores results in batches: those that arrive during one transaction are stored by the next. */
export class Recorder {
  readonly #options: RecorderOptions;
  #waiting: PendingResults[] = [];
  #isBusy = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /**
   * Stores the results of a queue, however long that takes. Returns its next delivery, if the queue continues.
   *
   * @param attempts in order; all but the last were delivered
   * @param keepsQueue whether this process keeps the queue
   */
  record(attempts: AttemptResult[], keepsQueue: boolean): Promise<Delivery | null> {
    return new Promise((resolve) => {
      this.#waiting.push({ attempts, keepsQueue: keepsQueue, resolve });
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      const next = await this.#store(batch);
      for (const { attempts, resolve } of batch) resolve(next.get(queueKey(attempts[0]!.delivery)) ?? null);
    }
    this.#isBusy = false;
  }

  /** Takes one entry of each queue. A queue has several entries only if a claim was lost. */
  #takeBatch(): PendingResults[] {
    const queues = new Map<string, PendingResults>();
    const later: PendingResults[] = [];
    for (const each of this.#waiting) {
      const queue = queueKey(each.attempts[0]!.delivery);
      if (queues.has(queue)) later.push(each);
      else queues.set(queue, each);
    }
    this.#waiting = later;
    return [...queues.values()];
  }

  async #store(batch: PendingResults[]): Promise<Map<string, Delivery>> {
    const { queues, clock, now, logger, giveUp: givingUp } = this.#options;
    const attempts = batch.flatMap((each) => each.attempts);
    const goingOn = new Set(batch.filter((each) => each.keepsQueue).map((each) => each.attempts.at(-1)));
    const subscriptions = [...new Set(attempts.map(({ delivery }) => delivery.subscription_id))];
    const note = () =>
      queues.record(subscriptions, (before) =>
        judgeAttempts(attempts, before, now(), clock, (each) => goingOn.has(each)),
      );
    const message = "webhooks: can't store results";
    const next = (await keepTrying(note, { logger, message, signal: givingUp })) ?? [];
    return new Map(next.map((delivery) => [queueKey(delivery), delivery]));
  }
}
