import type { Logger } from "pino";
import { databaseIn } from "../../postgres/client.ts";
import type { Allotment } from "../../postgres/connection-budget.ts";
import { serverOf } from "../../database/merchant-database.ts";
import { growingPause } from "../../lib/retry.ts";
import { briefly, readWrites, Unreachable } from "./due.ts";
import type { Writes } from "./due.ts";

/** Milliseconds between two looks at a cluster. */
const everyMs = 2_000;
const pauses = { firstMs: 1_000, longestMs: 60_000 };
/** Milliseconds without writes after which the next one counts as the first. */
const quietMs = 30_000;
/** Milliseconds after which Postgres has counted what was written: ten seconds, and two looks. */
const ownMs = 15_000;

/** What it knows of a merchant, and changes. */
export interface Watched {
  url: string;
  /** Its cluster. */
  server: string;
  database: string;
  /** When to ask its database, when that was done last, and how often in a row it failed. Milliseconds of `performance.now()`. */
  visitAt: number;
  visitedAt: number;
  failures: number;
  /** Whether the visit may be put off, as there is no reason for it but the start. */
  mayRest: boolean;
  /** How much had been written at the last look; null before the first. */
  writes: Writes | null;
  /** Rows that this process has written itself, which make no work, and until when they are counted at the latest. */
  own: number;
  ownUntil: number;
  /** Looks since it was quiet, or there was work, that showed something was written. */
  changes: number;
  changedAt: number;
}

/** What it knows of a merchant at first. */
export const unseen = (url: string, visitAt: number, mayRest: boolean): Watched => ({
  mayRest,
  ...{ url, server: serverOf(url), database: databaseIn(url), visitAt, visitedAt: -Infinity, failures: 0 },
  ...{ writes: null, changes: 0, changedAt: 0, own: 0, ownUntil: 0 },
});

/** Who is told whether servers can be reached. */
interface ServerNotes {
  noteAnswer(server: string): void;
  noteAway(server: string): void;
}

/**
 * Watches which merchants are written to, by anybody: with one brief connection to each cluster, whatever the number of
 * merchants on it. So those that nothing happens to needn't be asked.
 */
export class WriteWatch {
  readonly #watched: ReadonlyMap<string, Watched>;
  readonly #allot: (merchant: string) => Allotment;
  readonly #logger: Logger;
  readonly #servers: ServerNotes;
  readonly #timer: NodeJS.Timeout;
  readonly #failures = new Map<string, { count: number; until: number }>();
  /** Servers that are being looked at. */
  readonly #looking = new Map<string, Promise<void>>();

  constructor(
    watched: ReadonlyMap<string, Watched>,
    { allot, logger }: { allot: (merchant: string) => Allotment; logger: Logger },
    servers: ServerNotes,
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
    const failed = this.#failures.get(server);
    if (failed && performance.now() < failed.until) return;
    const reachable = merchants.filter(({ failures }) => failures === 0);
    // Any of them will do; another one the next time
    const one = reachable[Math.floor(Math.random() * reachable.length)];
    if (!one) return;
    const allotment = this.#allot("");
    try {
      const writes = await briefly(one.url, allotment, readWrites);
      this.#failures.delete(server);
      this.#servers.noteAnswer(server);
      for (const merchant of merchants) noteWrites(merchant, writes.get(merchant.database));
    } catch (error) {
      if (error instanceof Unreachable) this.#servers.noteAway(server);
      const count = (failed?.count ?? 0) + 1;
      this.#failures.set(server, { count, until: performance.now() + growingPause(count, pauses) });
      if (count === 1)
        this.#logger.warn({ err: error, server }, "writes of merchants aren't noticed; trying again");
    } finally {
      allotment.close();
    }
  }
}

/** Has a merchant asked at a time, or before. */
export const visitBy = (merchant: Watched, at: number): void => {
  if (at >= merchant.visitAt) return;
  merchant.visitAt = at;
  merchant.mayRest = false;
};

/** Notes rows that this process has written itself. */
export function noteOwn(merchant: Watched | undefined, rows: number, now = performance.now()): void {
  if (!merchant) return;
  if (merchant.own === 0) merchant.ownUntil = now + ownMs;
  merchant.own += rows;
}

/** Has a merchant asked that was written to; ever more rarely, if others do the work that comes of it. */
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
