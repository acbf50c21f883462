import { LRUCache } from "lru-cache";
import { lruLimit } from "../../lib/at-most.ts";
import type { Bucket } from "./bucket.ts";
import type { RateLimits } from "./rate-limits.ts";

/** Milliseconds of work in Postgres and Node that a point pays for. Most operations take a tenth of that. */
const msPerPoint = 5;
/** The maximum credit of a client, in paid but unused milliseconds, and its first credit. It evens out variations. */
const maxCreditMs = 500;
const maxClients = 100_000;

interface Account {
  bucket: Bucket;
  creditMs: number;
}

/**
 * Charges operations for the time that they actually take. Points are estimated before an operation runs. Time beyond
 * them, for example without an index or until the time-out, is charged to the client's bucket afterwards.
 */
export class Meter {
  readonly #rates: RateLimits;
  readonly #accounts = new LRUCache<string, Account>(lruLimit(maxClients));

  constructor(rates: RateLimits) {
    this.#rates = rates;
  }

  /** Notes points that a client has paid from a bucket. */
  paid(bucket: Bucket, client: string, points: number): void {
    const account = this.#accounts.get(client);
    if (!account) return void this.#accounts.set(client, { bucket, creditMs: maxCreditMs });
    account.bucket = bucket;
    account.creditMs = Math.min(maxCreditMs, account.creditMs + points * msPerPoint);
  }

  /** Notes milliseconds of work for a client. */
  readonly used = (client: string, ms: number): void => {
    const account = this.#accounts.get(client);
    if (!account) return; // The service itself, which doesn't pay
    account.creditMs -= ms;
    if (account.creditMs >= 0) return;
    this.#rates.charge(account.bucket, client, -account.creditMs / msPerPoint);
    account.creditMs = 0;
  };
}
