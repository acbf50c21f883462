import type { Logger } from "pino";
import type { Attempted } from "./attempt.ts";
import type { Delivery, DeliveryQueues } from "./delivery-queues.ts";
import { retryForever } from "./retry-forever.ts";
import type { RetryClock } from "./retry.ts";
import { judge } from "./verdict.ts";

export interface RecorderOptions {
  queues: DeliveryQueues;
  clock: RetryClock;
  /** In milliseconds since 1970. */
  now: () => number;
  logger: Logger;
  /** Aborts storing results. Unstored ones are delivered once more, later. */
  givingUp: AbortSignal;
}

interface Waiting {
  attempted: Attempted;
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
   * Stores a result, however long that takes. Returns the next delivery of the queue, if it continues.
   *
   * @param goesOn whether to keep the queue
   */
  record(attempted: Attempted, goesOn: boolean): Promise<Delivery | null> {
    return new Promise((resolve) => {
      this.#waiting.push({ attempted, goesOn, resolve });
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      const next = await this.#note(batch);
      for (const { attempted, resolve } of batch) resolve(next.get(queueOf(attempted.delivery)) ?? null);
    }
    this.#isBusy = false;
  }

  /** One of each queue. There are more only when a claim was lost. */
  #takeBatch(): Waiting[] {
    const queues = new Map<string, Waiting>();
    const later: Waiting[] = [];
    for (const each of this.#waiting) {
      const queue = queueOf(each.attempted.delivery);
      if (queues.has(queue)) later.push(each);
      else queues.set(queue, each);
    }
    this.#waiting = later;
    return [...queues.values()];
  }

  async #note(batch: Waiting[]): Promise<Map<string, Delivery>> {
    const { queues, clock, now, logger, givingUp } = this.#options;
    const goesOn = new Map(batch.map((each) => [each.attempted, each.goesOn]));
    const subscriptions = [...new Set(batch.map(({ attempted }) => attempted.delivery.subscription_id))];
    const note = () =>
      queues.record(subscriptions, (before) =>
        judge([...goesOn.keys()], before, now(), clock, (each) => goesOn.get(each)!),
      );
    const next = (await retryForever("note what was delivered", note, logger, givingUp)) ?? [];
    return new Map(next.map((delivery) => [queueOf(delivery), delivery]));
  }
}
