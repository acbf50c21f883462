import { LRUCache } from "lru-cache";
import type { Bucket } from "./bucket.ts";
import type { RateLimits } from "./rate-limits.ts";

/** Milliseconds of work, of Postgres and of Node, that a point pays for. Most operations take a tenth of theirs. */
const msPerPoint = 5;
/** Milliseconds that a client can have paid for and not used, and that it has at first: so that what varies evens out. */
const maxCreditMs = 500;
const maxClients = 100_000;

interface Account {
  bucket: Bucket;
  creditMs: number;
}

/**
 * Settles what operations really took. Points are reckoned before an operation runs; what it takes beyond them, when
 * no index could answer it or it ran into its time-out, is charged to the bucket of its client afterwards.
 */
export class Meter {
  readonly #rates: RateLimits;
  readonly #accounts = new LRUCache<string, Account>({ max: maxClients });

  constructor(rates: RateLimits) {
    this.#rates = rates;
  }

  /** Notes that a client has paid points out of a bucket. */
  paid(bucket: Bucket, client: string, points: number): void {
    const account = this.#accounts.get(client);
    if (!account) return void this.#accounts.set(client, { bucket, creditMs: maxCreditMs });
    account.bucket = bucket;
    account.creditMs = Math.min(maxCreditMs, account.creditMs + points * msPerPoint);
  }

  /** Notes that work for a client took so many milliseconds. */
  readonly used = (client: string, ms: number): void => {
    const account = this.#accounts.get(client);
    if (!account) return; // The service itself, which pays nobody
    account.creditMs -= ms;
    if (account.creditMs >= 0) return;
    this.#rates.charge(account.bucket, client, -account.creditMs / msPerPoint);
    account.creditMs = 0;
  };
}
