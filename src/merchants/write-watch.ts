import type { Logger } from "pino";
import { databaseIn } from "../postgres/client.ts";
import { growingPause } from "../lib/retry.ts";
import { pauses } from "./away-servers.ts";
import type { AwayServers } from "./away-servers.ts";
import type { Allot } from "./connection-budget.ts";
import { briefly, readWrites } from "./due.ts";
import type { Writes } from "./due.ts";
import { serverOf } from "./merchant-database.ts";

/** Milliseconds between two looks at a cluster. */
const everyMs = 2_000;
/** Milliseconds without writes after which the next one counts as the first. */
const quietMs = 30_000;
/** Milliseconds after which Postgres has counted what was written: ten seconds, and two looks. */
const ownMs = 15_000;

/** A merchant that is watched. */
export interface Watched {
  url: string;
  /** Its cluster. */
  server: string;
  database: string;
  /** When to ask its database, when that was done last, and how often in a row it failed. Milliseconds of `performance.now()`. */
  visitAt: number;
  visitedAt: number;
  failures: number;
  /** Whether it is to be asked because nothing is known of it since the start. */
  isUnknown: boolean;
  /** How much had been written at the last look; null before the first. */
  writes: Writes | null;
  /** Looks since it was quiet, or there was work, that showed something was written. */
  changes: number;
  changedAt: number;
  /** Rows that this process has written itself, which make no work, and until when they are counted at the latest. */
  own: number;
  ownUntil: number;
}

/** A merchant of which nothing is known yet. */
export const unseen = (url: string): Watched => ({
  url,
  server: serverOf(url),
  database: databaseIn(url),
  visitAt: Infinity,
  visitedAt: -Infinity,
  failures: 0,
  isUnknown: false,
  writes: null,
  changes: 0,
  changedAt: 0,
  own: 0,
  ownUntil: 0,
});

/**
 * Watches which merchants are written to, by anybody: with one brief connection to each cluster, whatever the number of
 * merchants on it. So those that nothing happens to needn't be asked.
 */
export class WriteWatch {
  readonly #watched: ReadonlyMap<string, Watched>;
  readonly #allot: Allot;
  readonly #logger: Logger;
  readonly #servers: AwayServers;
  readonly #timer: NodeJS.Timeout;
  /** Servers at which the last look failed. */
  readonly #failed = new Set<string>();
  /** Servers that are being looked at. */
  readonly #looking = new Map<string, Promise<void>>();

  constructor(
    watched: ReadonlyMap<string, Watched>,
    { allot, logger }: { allot: Allot; logger: Logger },
    servers: AwayServers,
  ) {
    this.#watched = watched;
    this.#servers = servers;
    this.#allot = allot;
    this.#logger = logger;
    this.#timer = setInterval(() => this.#look(), everyMs).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#looking.values());
  }

  #look(): void {
    for (const [server, merchants] of Map.groupBy(this.#watched.values(), ({ server }) => server)) {
      if (this.#looking.has(server)) continue;
      const looking = this.#lookAt(server, merchants).finally(() => this.#looking.delete(server));
      this.#looking.set(server, looking);
    }
  }

  async #lookAt(server: string, merchants: Watched[]): Promise<void> {
    const reachable = merchants.filter(({ failures }) => failures === 0);
    // Any of them will do; another one the next time
    const one = reachable[Math.floor(Math.random() * reachable.length)];
    if (!one || this.#servers.waitUntil(server) !== null) return;
    try {
      const look = () => briefly(one.url, this.#allot(""), readWrites);
      const writes = await this.#servers.attempt(server, look);
      this.#failed.delete(server);
      for (const merchant of merchants) noteWrites(merchant, writes.get(merchant.database));
    } catch (error) {
      if (!this.#failed.has(server))
        this.#logger.warn({ err: error, server }, "writes of merchants aren't noticed; trying again");
      this.#failed.add(server);
    }
  }
}

/** Has a merchant asked at a time, or before. */
export const visitBy = (merchant: Watched, at: number): void => {
  merchant.visitAt = Math.min(at, merchant.visitAt);
};

/** Notes rows that this process has written itself. */
export function noteOwn(merchant: Watched, rows: number, now = performance.now()): void {
  if (merchant.own === 0) merchant.ownUntil = now + ownMs;
  merchant.own += rows;
}

/** Has a merchant asked that was written to; ever more rarely, if that never makes work here. */
export function noteWrites(merchant: Watched, writes: Writes | undefined, now = performance.now()): void {
  const isUnseen = merchant.writes === null && merchant.visitedAt === -Infinity;
  if (writes === undefined || !isOfOthers(merchant, writes, now)) {
    if (now - merchant.changedAt > quietMs) merchant.changes = 0;
    return;
  }
  merchant.changedAt = now;
  if (isUnseen) return;
  visitBy(merchant, merchant.visitedAt + growingPause(++merchant.changes, pauses));
}

/**
 * Whether somebody else may have written something. What another one writes before our own rows are counted looks like these,
 * and is noticed when they are, or aren't in time.
 */
function isOfOthers(merchant: Watched, writes: Writes, now: number): boolean {
  const before = merchant.writes;
  merchant.writes = writes;
  const rows = before?.since === writes.since ? writes.rows - before.rows : Infinity;
  const isLate = merchant.own > 0 && now > merchant.ownUntil;
  const isOwn = rows <= merchant.own && !isLate;
  merchant.own = isOwn ? merchant.own - rows : 0;
  return !isOwn;
}
