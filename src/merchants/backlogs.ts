import type { Backlog } from "../jobs/backlog.ts";

/** The number of merchants that are named for each kind of work: those whose work waits longest. */
const mostNamed = 5;

/** How long the oldest work of a kind has been waiting at a merchant. */
export interface Lag {
  merchant: string;
  work: string;
  seconds: number;
}

const lags = {
  outbox: ({ outboxSeconds }: Backlog) => outboxSeconds,
  webhooks: ({ deliverySeconds }: Backlog) => deliverySeconds,
  jobs: ({ jobSeconds }: Backlog) => jobSeconds,
};

/** Whether work is waiting that could be done. */
export const hasDueWork = (backlog: Backlog): boolean => Object.values(lags).some((of) => of(backlog) > 0);

/** Backlogs of merchants, as their databases last reported them. Reading them sends no query. */
export class Backlogs {
  /** By merchant; null if nothing is waiting. */
  readonly #known = new Map<string, Backlog | null>();
  readonly #countMerchants: () => number;

  /** @param countMerchants returns the number of active merchants */
  constructor(countMerchants: () => number) {
    this.#countMerchants = countMerchants;
  }

  note(merchant: string, backlog: Backlog | null): void {
    this.#known.set(merchant, backlog);
  }

  /** Forgets a merchant that can't be reached, or is removed. */
  forget(merchant: string): void {
    this.#known.delete(merchant);
  }

  /**
   * The backlog of all merchants together: sums, and the longest waits. It has no subscriptions, because these aren't read
   * at merchants without a backlog.
   *
   * @throws when there are merchants, but none could be reached
   */
  get sum(): Backlog {
    if (this.#known.size === 0 && this.#countMerchants() > 0)
      throw new Error("No merchant's database could be reached.");
    const sum: Backlog = {
      outbox: 0,
      outboxSeconds: 0,
      deliveries: 0,
      deliverySeconds: 0,
      jobSeconds: 0,
      labels: 0,
      labelSeconds: 0,
      subscriptions: {},
      jobs: { due: 0, running: 0, later: 0, failed: 0 },
    };
    for (const one of this.#known.values()) if (one) add(sum, one);
    return sum;
  }

  /** The longest lags of each kind of work. They are few, so that many merchants don't create many metrics. */
  get worst(): Lag[] {
    return Object.entries(lags).flatMap(([work, of]) =>
      [...this.#known]
        .flatMap(([merchant, one]) => (one && of(one) > 0 ? [{ merchant, work, seconds: of(one) }] : []))
        .sort((a, b) => b.seconds - a.seconds)
        .slice(0, mostNamed),
    );
  }
}

function add(sum: Backlog, one: Backlog): void {
  sum.outbox += one.outbox;
  sum.deliveries += one.deliveries;
  sum.labels += one.labels;
  for (const each of ["outboxSeconds", "deliverySeconds", "jobSeconds", "labelSeconds"] as const)
    sum[each] = Math.max(sum[each], one[each]);
  for (const state of ["due", "running", "later", "failed"] as const) sum.jobs[state] += one.jobs[state];
}
