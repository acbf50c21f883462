import type { Logger } from "pino";
import type { Pool } from "pg";
import type { RateLimiterAbstract } from "rate-limiter-flexible";
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";

/** How much there is to take, and in which time. */
export interface Rate {
  /** Of what it is a rate. */
  name: string;
  points: number;
  seconds: number;
}

export interface Taken {
  isAllowed: boolean;
  remaining: number;
  /** Seconds until all points are back. */
  resetsInSeconds: number;
}

/**
 * Counts what clients take. Each process counts for itself, unless they share a table in Postgres (`auth.taken_points`).
 * When that can't be reached, each process counts for itself as well.
 */
export class RateLimits {
  readonly #limiters = new Map<string, RateLimiterAbstract>();
  readonly #shared: Pool | null;
  readonly #logger: Logger;

  /** @param shared connections whose role may change the table; null for counting in memory */
  constructor(shared: Pool | null, logger: Logger) {
    this.#shared = shared;
    this.#logger = logger;
  }

  /** Takes points of a client. When fewer are left, none is. */
  async take(rate: Rate, client: string, points: number): Promise<Taken> {
    const limiter = this.#limiterOf(rate);
    try {
      const left = await limiter.consume(client, points);
      return { isAllowed: true, remaining: left.remainingPoints, resetsInSeconds: seconds(left) };
    } catch (reason) {
      if (reason instanceof RateLimiterRes)
        return { isAllowed: false, remaining: 0, resetsInSeconds: Math.max(1, seconds(reason)) };
      // Better unlimited than out of order
      this.#logger.error({ err: reason }, "can't count what clients take");
      return { isAllowed: true, remaining: rate.points, resetsInSeconds: rate.seconds };
    }
  }

  #limiterOf({ name, points, seconds: duration }: Rate): RateLimiterAbstract {
    const keyPrefix = `${name}-${points}-${duration}`;
    let limiter = this.#limiters.get(keyPrefix);
    if (!limiter) {
      const options = { keyPrefix, points, duration };
      const inMemory = new RateLimiterMemory(options);
      limiter = this.#shared
        ? new RateLimiterPostgres({
            ...options,
            storeClient: this.#shared,
            storeType: "pool",
            schemaName: "auth",
            tableName: "taken_points",
            tableCreated: true,
            clearExpiredByTimeout: true,
            insuranceLimiter: inMemory,
          })
        : inMemory;
      this.#limiters.set(keyPrefix, limiter);
    }
    return limiter;
  }
}

const seconds = ({ msBeforeNext }: RateLimiterRes): number => Math.ceil(msBeforeNext / 1000);
