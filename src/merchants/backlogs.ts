import type { Backlog } from "../jobs/backlog.ts";

/** Merchants that are named, of those where work waits longest. */
const mostNamed = 5;

/** How long the oldest of a kind waits at a merchant. */
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

/** Whether something waits that could be done. */
export const isBehind = (backlog: Backlog): boolean => Object.values(lags).some((of) => of(backlog) > 0);

/** Backlogs of merchants, as their databases last reported them. Reading them sends no query. */
export class Backlogs {
  /** Null where nothing waits. */
  readonly #known = new Map<string, Backlog | null>();
  readonly #countMerchants: () => number;

  /** @param countMerchants how many there are that could be asked */
  constructor(countMerchants: () => number) {
    this.#countMerchants = countMerchants;
  }

  note(merchant: string, backlog: Backlog | null): void {
    this.#known.set(merchant, backlog);
  }

  /** Forgets a merchant that can't be asked, or is gone. */
  forget(merchant: string): void {
    this.#known.delete(merchant);
  }

  /**
   * Of all together: sums, and for how long the oldest waits. Without subscriptions, which aren't read where nothing
   * waits.
   *
   * @throws when there are merchants, and none could be asked
   */
  get sum(): Backlog {
    if (this.#known.size === 0 && this.#countMerchants() > 0)
      throw new Error("No merchant could be asked what waits.");
    const sum: Backlog = {
      outbox: 0,
      outboxSeconds: 0,
      deliveries: 0,
      deliverySeconds: 0,
      jobSeconds: 0,
      subscriptions: {},
      jobs: { due: 0, running: 0, later: 0, failed: 0 },
    };
    for (const one of this.#known.values()) if (one) add(sum, one);
    return sum;
  }

  /** The longest lags of each kind of work: a few, so that many merchants don't make many figures. */
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
  for (const each of ["outboxSeconds", "deliverySeconds", "jobSeconds"] as const)
    sum[each] = Math.max(sum[each], one[each]);
  for (const state of ["due", "running", "later", "failed"] as const) sum.jobs[state] += one.jobs[state];
}
