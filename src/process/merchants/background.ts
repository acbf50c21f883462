import pg from "pg";
import type { Logger } from "pino";
import type { Allotment } from "../../postgres/connection-budget.ts";
import { choresOf } from "../../jobs/chores.ts";
import { tasksOf } from "../../jobs/tasks.ts";
import { growingPause } from "../../lib/retry.ts";
import type { Settings } from "../settings.ts";
import { AwayServers } from "./away-servers.ts";
import { Backlogs, isBehind } from "./backlogs.ts";
import { briefly, dueQuery, kinds, readDue, readDueBy, Unreachable } from "./due.ts";
import type { Due, Kind } from "./due.ts";
import { betweenFirstMs, FirstVisits, timeOfFirst } from "./first-requests.ts";
import { Lane } from "./lane.ts";
import type { Merchant } from "./merchant.ts";
import type { OpenMerchants } from "./open-merchants.ts";
import { plan } from "./plan.ts";
import { noteOwn, unseen, visitBy, WriteWatch } from "./write-watch.ts";
import type { Watched } from "./write-watch.ts";
import type { Work } from "./work.ts";

/** Milliseconds between two looks for merchants whose time has come. */
const tickMs = 250;
/** Milliseconds after which a merchant is asked again that has been written to: while it has a turn at events, or not. */
const writtenMs = { inTurn: 1_000, otherwise: 50 };
/** Milliseconds after which any merchant is asked again: what is written is noticed before, unless Postgres counts nothing. */
const everyMs = 3_600_000;
/** Milliseconds after which one is asked again where something waits, so that it is known how much. */
const behindMs = 15_000;
/** Before a merchant is asked again whose database couldn't be, or where others do the work. */
const pauses = { firstMs: 1_000, longestMs: 60_000 };
/** Milliseconds after which a turn ends while others wait. */
const turnMs = 10_000;
/** Merchants that are asked at a time, and of one server: one that doesn't answer holds up no others. */
const [visitsAtOnce, visitsOfServer] = [8, 2];

/** What is known of a merchant's work. */
interface Known extends Watched {
  merchant: Merchant;
  logger: Logger;
  /** Aborted when it is another now, or this process stops. */
  leaving: AbortController;
  /** Turns in a row in which there was nothing to do. */
  vain: number;
  /** Whether it waits for another one to reach their server. */
  isBehind: boolean;
  held: string[];
}

export interface BackgroundOptions {
  settings: Settings;
  logger: Logger;
  merchants: OpenMerchants;
  work: Record<Kind, Work>;
  /** Merchants that are worked on at a time, by the kind of work. 0 leaves it to other processes. */
  sizes: Record<Kind, number>;
  /** What visits open connections with. */
  allot: (merchant: string) => Allotment;
  /** For tests. */
  spreadMs?: number | undefined;
  /** Whether it watches all merchants, and not only those that are written to by this process. */
  watches: boolean;
}

/**
 * The background work of all merchants of a process. It asks each database when there is work, and sleeps until then. A
 * merchant with work has its turn, which opens it and lasts until nothing is due.
 */
export class Background {
  /** What waits, where this process watches all merchants. */
  readonly backlogs = new Backlogs(() => this.#known.size);
  readonly #options: BackgroundOptions;
  readonly #known = new Map<string, Known>();
  readonly #lanes: Record<Kind, Lane>;
  readonly #visits = new Lane(visitsAtOnce, visitsOfServer);
  readonly #servers = new AwayServers();
  readonly #watch: WriteWatch | null;
  readonly #firstVisits: FirstVisits;
  readonly #timer: NodeJS.Timeout;
  readonly #since = Date.now();
  #visited = 0;

  constructor(options: BackgroundOptions) {
    this.#options = options;
    const laneOf = (kind: Kind) => [kind, new Lane(options.sizes[kind])] as const;
    this.#lanes = Object.fromEntries(kinds.map(laneOf)) as Record<Kind, Lane>;
    this.#watch = options.watches ? new WriteWatch(this.#known, options, this) : null;
    this.#firstVisits = new FirstVisits(options.merchants.firstRequests);
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** Merchants that are worked on and that wait for their turn, by the kind of work. */
  get counts(): Record<Kind, { running: number; waiting: number }> {
    return Object.fromEntries(kinds.map((kind) => [kind, this.#lanes[kind].counts])) as never;
  }

  /** How often a merchant was asked, and how many can't be. */
  get visits(): { done: number; away: number } {
    const isAway = ({ failures, isBehind }: Known) => failures > 0 || isBehind;
    return { done: this.#visited, away: [...this.#known.values()].filter(isAway).length };
  }

  /** Notes that a merchant is new, another now, or gone: what it does ends. */
  outdate(name: string, merchant: Merchant | undefined): void {
    const before = this.#known.get(name);
    before?.leaving.abort();
    this.#known.delete(name);
    this.backlogs.forget(name);
    if (merchant?.state !== "active") return;
    const { logger, watches } = this.#options;
    // A turn that is ending may still add to it
    const held = before?.url === merchant.databaseUrl ? before.held : [];
    const isStart = this.#visited === 0;
    const visitAt = performance.now() + (isStart ? timeOfFirst(this.#known.size) : 0);
    this.#known.set(name, {
      ...unseen(merchant.databaseUrl, watches ? visitAt : Infinity, isStart),
      ...{ merchant, logger: logger.child({ merchant: name }), leaving: new AbortController(), held },
      ...{ vain: 0, isBehind: false },
    });
  }

  /** Notes that somebody may have written something. */
  wake(name: string): void {
    const known = this.#known.get(name);
    if (!known) return;
    known.vain = known.changes = 0;
    const { inTurn, otherwise } = writtenMs;
    visitBy(known, known.visitedAt + (this.#lanes.webhooks.has(name) ? inTurn : otherwise));
    if (known.visitAt <= performance.now()) this.#begin(known);
  }

  /** Notes that counts of use have been written: they make no work. */
  noteCounted(name: string, rows: number): void {
    noteOwn(this.#known.get(name), rows);
  }

  /** Lets running work end, for some seconds, or returns it. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const { leaving } of this.#known.values()) leaving.abort();
    const lanes = [this.#visits, ...Object.values(this.#lanes)];
    await Promise.all([this.#watch?.close(), ...lanes.map((lane) => lane.close())]);
  }

  #tick(): void {
    this.#firstVisits.putOff(this.#known.values());
    const now = performance.now();
    for (const known of this.#known.values()) if (known.visitAt <= now) this.#begin(known);
  }

  #begin(known: Known): void {
    this.#visits.run(known.merchant.name, () => this.#visit(known), known.server);
  }

  /** Asks a merchant's database, and begins what is due. */
  async #visit(known: Known): Promise<void> {
    if (known.leaving.signal.aborted || (known.mayRest && this.#firstVisits.rest)) return;
    const waitUntil = this.#servers.waitUntil(known.server);
    known.isBehind = waitUntil !== null;
    if (waitUntil !== null) {
      this.backlogs.forget(known.merchant.name);
      return void (known.visitAt = waitUntil);
    }
    known.visitedAt = performance.now();
    known.visitAt = Infinity;
    known.mayRest = false;
    this.#visited++;
    let due: Due;
    try {
      due = await this.#ask(known.merchant);
      this.noteAnswer(known.server);
    } catch (error) {
      if (error instanceof Unreachable) this.noteAway(known.server);
      else if (error instanceof pg.DatabaseError) this.noteAnswer(known.server);
      this.backlogs.forget(known.merchant.name);
      if (known.failures++ === 0)
        known.logger.warn({ err: error }, "a merchant's background work rests: its database can't be asked");
      return visitBy(known, performance.now() + growingPause(known.failures, pauses));
    }
    if (known.failures > 0) known.logger.info("a merchant's background work goes on");
    known.failures = 0;
    known.database = due.database;
    if (this.#options.watches) this.#noteBacklog(known, due.backlog);
    const { settings, sizes, spreadMs } = this.#options;
    const chores = choresOf(settings, known.merchant.name);
    for (const [kind, inMs] of plan(due, chores, { since: this.#since, spreadMs })) {
      if (sizes[kind] === 0) continue;
      if (inMs > 0) visitBy(known, performance.now() + inMs);
      else this.#take(kind, known);
    }
  }

  #noteBacklog(known: Known, backlog: Due["backlog"]): void {
    if (!known.leaving.signal.aborted) this.backlogs.note(known.merchant.name, backlog);
    visitBy(known, known.visitedAt + (backlog && isBehind(backlog) ? behindMs : everyMs));
  }

  /** Has those asked that waited for it. */
  noteAnswer(server: string): void {
    if (!this.#servers.noteAnswer(server)) return;
    let at = performance.now();
    for (const known of this.#known.values())
      if (known.isBehind && known.server === server) visitBy(known, (at += betweenFirstMs));
  }

  /** Notes that a server can't be reached. The second time, nothing is known any more of what waits at its merchants. */
  noteAway(server: string): void {
    if (this.#servers.noteFailure(server) < 2) return;
    for (const known of [...this.#known.values()].filter((one) => one.server === server)) {
      known.isBehind = true;
      this.backlogs.forget(known.merchant.name);
    }
  }

  async #ask({ name, databaseUrl }: Merchant): Promise<Due> {
    const { settings, merchants, allot } = this.#options;
    const chores = choresOf(settings, name).map((chore) => chore.name);
    const query = dueQuery(Object.keys(tasksOf(settings)), chores);
    // A connection that it has open is cheaper
    const pool = merchants.find(name)?.pool;
    if (pool && pool.idleCount > 0) return readDueBy(pool, query);
    const allotment = allot(name);
    return briefly(databaseUrl, allotment, (client) => readDue(client, query)).finally(() =>
      allotment.close(),
    );
  }

  /** Gives a merchant its turn. */
  #take(kind: Kind, known: Known): void {
    const lane = this.#lanes[kind];
    const { merchant, logger, held, leaving } = known;
    lane.run(merchant.name, async () => {
      const end = performance.now() + turnMs;
      const mustRest = () => lane.counts.waiting > 0 && performance.now() > end;
      const turn = { merchant, logger, held, stopping: leaving.signal, mustRest };
      const worked = leaving.signal.aborted
        ? true
        : await this.#options.work[kind](turn).catch((error: unknown) => {
            if (known.vain === 0)
              logger.warn({ err: error, work: kind }, "a merchant's background work failed; trying again");
            return false;
          });
      known.vain = worked ? 0 : known.vain + 1;
      if (worked) known.changes = 0;
      // It may be another one by now
      const next = this.#known.get(merchant.name);
      if (next) visitBy(next, performance.now() + (worked ? 0 : growingPause(known.vain, pauses)));
    });
  }
}
