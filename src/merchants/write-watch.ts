import type { Logger } from "pino";
import { getDatabaseName } from "../postgres/client.ts";
import { growingPause } from "../lib/retry.ts";
import { retryPauses } from "./away-servers.ts";
import type { UnreachableServers } from "./away-servers.ts";
import type { Allot } from "./connection-budget.ts";
import { withBriefConnection, readWrites } from "./due.ts";
import type { Writes } from "./due.ts";
import { serverAddress } from "./merchant-database.ts";

/** Milliseconds between two checks of a cluster. */
const everyMs = 2_000;
/** Milliseconds without writes after which the next one counts as the first. */
const quietMs = 30_000;
/** Milliseconds after which Postgres' statistics include a write: ten seconds, and two checks. */
const ownMs = 15_000;

/** The state of a merchant that is watched for writes. */
export interface Watched {
  url: string;
  /** Its cluster. */
  server: string;
  database: string;
  /** When to visit its database and when that was last done (`performance.now()`), and the number of consecutive failures. */
  visitAt: number;
  visitedAt: number;
  failures: number;
  /** Whether it still needs its first visit since the start. */
  isUnknown: boolean;
  /** How much had been written at the last check; null before the first. */
  writes: Writes | null;
  /** The number of checks with new writes, since a quiet time or a turn with work. */
  changes: number;
  changedAt: number;
  /** Rows that this process wrote itself, which cause no work, and when the statistics include them at the latest. */
  ownRows: number;
  ownRowsUntil: number;
}

/** Creates the state of a merchant that hasn't been visited yet. */
export const createWatched = (url: string): Watched => ({
  url,
  server: serverAddress(url),
  database: getDatabaseName(url),
  visitAt: Infinity,
  visitedAt: -Infinity,
  failures: 0,
  isUnknown: false,
  writes: null,
  changes: 0,
  changedAt: 0,
  ownRows: 0,
  ownRowsUntil: 0,
});

/**
 * Watches which merchants are written to, by anyone, through one brief connection to each cluster, however many merchants it
 * has. So inactive merchants need no visits.
 */
export class WriteWatch {
  readonly #watched: ReadonlyMap<string, Watched>;
  readonly #allot: Allot;
  readonly #logger: Logger;
  readonly #servers: UnreachableServers;
  readonly #timer: NodeJS.Timeout;
  /** Servers whose last check failed. */
  readonly #failed = new Set<string>();
  /** Running checks by server. */
  readonly #looking = new Map<string, Promise<void>>();

  constructor(
    watched: ReadonlyMap<string, Watched>,
    { allot, logger }: { allot: Allot; logger: Logger },
    servers: UnreachableServers,
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
    // Any merchant of the server will do; chosen at random, so that it is another one next time
    const one = reachable[Math.floor(Math.random() * reachable.length)];
    if (!one || this.#servers.nextAttemptAt(server) !== null) return;
    try {
      const look = () => withBriefConnection(one.url, this.#allot(""), readWrites);
      const writes = await this.#servers.attempt(server, look);
      this.#failed.delete(server);
      for (const merchant of merchants) noteWrites(merchant, writes.get(merchant.database));
    } catch (error) {
      if (!this.#failed.has(server))
        this.#logger.warn({ err: error, server }, "can't read which merchants were written to; trying again");
      this.#failed.add(server);
    }
  }
}

/** Schedules a visit to a merchant at a time, unless an earlier one is scheduled. */
export const scheduleVisit = (merchant: Watched, at: number): void => {
  merchant.visitAt = Math.min(at, merchant.visitAt);
};

/** Notes rows that this process wrote itself. */
export function noteOwnRows(merchant: Watched, rows: number, now = performance.now()): void {
  if (merchant.ownRows === 0) merchant.ownRowsUntil = now + ownMs;
  merchant.ownRows += rows;
}

/** Schedules a visit to a merchant that was written to. If the writes cause no work here, visits become rarer. */
export function noteWrites(merchant: Watched, writes: Writes | undefined, now = performance.now()): void {
  const isUnseen = merchant.writes === null && merchant.visitedAt === -Infinity;
  if (writes === undefined || !isWrittenByOthers(merchant, writes, now)) {
    if (now - merchant.changedAt > quietMs) merchant.changes = 0;
    return;
  }
  merchant.changedAt = now;
  if (isUnseen) return;
  scheduleVisit(merchant, merchant.visitedAt + growingPause(++merchant.changes, retryPauses));
}

/**
 * Whether anyone else may have written something. Rows that others write before the statistics include our own are mistaken
 * for those. They are noticed once our own are included, or should have been.
 */
function isWrittenByOthers(merchant: Watched, writes: Writes, now: number): boolean {
  const before = merchant.writes;
  merchant.writes = writes;
  const rows = before?.since === writes.since ? writes.rows - before.rows : Infinity;
  const isLate = merchant.ownRows > 0 && now > merchant.ownRowsUntil;
  const isOwn = rows <= merchant.ownRows && !isLate;
  merchant.ownRows = isOwn ? merchant.ownRows - rows : 0;
  return !isOwn;
}
