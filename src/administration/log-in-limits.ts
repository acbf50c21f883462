import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { asRole } from "../postgres/as-role.ts";
import { clientNetwork } from "../lib/network-of.ts";

const minute = 60;

/** How many failed log-ins are allowed in how many seconds. The database counts them for all processes. */
const limits = {
  /** Against guessing one administrator's password from one network. */
  pair: { points: 5, duration: 15 * minute },
  /** Against trying many names from one network. */
  address: { points: 30, duration: 15 * minute },
  /** Against many networks together. Higher than `pair`, because it also locks the administrator out. */
  name: { points: 100, duration: 60 * minute },
};

type Kind = keyof typeof limits;

/** Limits log-in attempts. */
export class LogInLimits {
  readonly #limiters: Readonly<Record<Kind, RateLimiterPostgres>>;

  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
    const storeClient = {
      // Not a named prepared statement: the package would use the same names for other tables
      query: ({ text, values }: { text: string; values: unknown[] }) =>
        asRole(pool, "service_administration", (client) => client.query(text, values)),
    };
    const limiterOf = (kind: Kind) =>
      new RateLimiterPostgres({
        storeClient,
        storeType: "pool",
        schemaName: "auth",
        tableName: "log_in_attempt",
        tableCreated: true,
        clearExpiredByTimeout: false,
        keyPrefix: kind,
        ...limits[kind],
      });
    this.#limiters = { pair: limiterOf("pair"), address: limiterOf("address"), name: limiterOf("name") };
  }

  /**
   * Counts an attempt before its result is known, so that parallel attempts count too.
   *
   * @returns the seconds to wait if the limit is exceeded, otherwise null
   */
  async count(name: string, address: string): Promise<number | null> {
    for (const [kind, key] of limitKeys(name, address)) {
      try {
        await this.#limiters[kind].consume(key);
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        return Math.ceil(refusal.msBeforeNext / 1000);
      }
    }
    return null;
  }

  /** Removes a successful attempt from the count, and deletes expired counts. */
  async forget(name: string, address: string): Promise<void> {
    for (const [kind, key] of limitKeys(name, address)) {
      if (kind === "pair") await this.#limiters.pair.delete(key);
      else await this.#limiters[kind].reward(key);
    }
    await asRole(this.#pool, "service_administration", (client) =>
      client.query("delete from auth.log_in_attempt where expire < $1", [Date.now()]),
    );
  }
}

function limitKeys(name: string, address: string): [Kind, string][] {
  const user = createHash("sha256").update(lowerCaseName(name)).digest("base64url");
  const network = clientNetwork(address);
  return [
    ["pair", `${user} ${network}`],
    ["address", network],
    ["name", user],
  ];
}

/**
 * Converts a name to lower case as Postgres does, letter by letter: “İ” becomes “i”. Otherwise another spelling of a
 * name would have its own count.
 */
const lowerCaseName = (name: string): string =>
  Array.from(name, (letter) => String.fromCodePoint(letter.toLowerCase().codePointAt(0)!)).join("");
