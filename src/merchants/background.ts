import { choresOf } from "../jobs/chores.ts";
import { tasksOf } from "../jobs/tasks.ts";
import { growingPause } from "../lib/retry.ts";
import { AwayServers, pauses } from "./away-servers.ts";
import type { Common } from "./common.ts";
import { Backlogs, isBehind } from "./backlogs.ts";
import { briefly, dueQuery, plan, readDue, readDueBy } from "./due.ts";
import type { Due } from "./due.ts";
import { MerchantTurns } from "./merchant-turns.ts";
import type { Merchant } from "./merchant.ts";
import type { OpenMerchants } from "./open-merchants.ts";
import { WorkTurns } from "./work.ts";
import type { Worked } from "./work.ts";
import { noteOwn, unseen, visitBy, WriteWatch } from "./write-watch.ts";
import type { Watched } from "./write-watch.ts";

/** Milliseconds between two looks for merchants whose time has come. */
const tickMs = 250;
/** Visits of a look to merchants of which nothing is known since the start, or more: the last one has its visit in a minute. */
const [unknownAtOnce, allUnknownMs] = [6, 60_000];
/** Milliseconds by which these are put off at the most, all times together. */
const mostPutOffMs = 60_000;
/** Milliseconds between visits to merchants of a server that is back. */
const betweenMs = 40;
/** Milliseconds after which a merchant is asked again that has been written to: while it has a turn at events, or not. */
const writtenMs = { inTurn: 1_000, otherwise: 50 };
/** Milliseconds after which any merchant is asked again: what is written is noticed before, unless Postgres counts nothing. */
const everyMs = 3_600_000;
/** Milliseconds after which one is asked again where something waits, so that it is known how much. */
const behindMs = 15_000;
/** Merchants that are asked at a time, and of one server: one that doesn't answer holds up no others. */
const [visitsAtOnce, visitsOfServer] = [8, 2];

/** A merchant, as far as it is known. */
interface Known extends Watched, Worked {
  /** Whether it waits for another one to reach their server. */
  isBehind: boolean;
}

/**
 * The background work of all merchants of a process. It asks each database when there is work, and sleeps until then. A
 * merchant with work has its turn, which opens it and lasts until nothing is due.
 */
export class Background {
  /** Backlogs of all merchants, where this process watches these. */
  readonly backlogs = new Backlogs(() => this.#known.size);
  readonly #common: Common;
  readonly #merchants: OpenMerchants;
  readonly #known = new Map<string, Known>();
  readonly #turns: WorkTurns;
  readonly #visits = new MerchantTurns(visitsAtOnce, visitsOfServer);
  readonly #servers = new AwayServers({
    onBack: (server) => this.#askAgain(server),
    onAway: (server) => this.#forgetBacklogs(server),
  });
  readonly #watch: WriteWatch | null;
  readonly #timer: NodeJS.Timeout;
  readonly #since = Date.now();
  #visited = 0;
  #putOffMs = 0;

  /** @param watches whether it watches all merchants, and not only those that are written to by this process */
  constructor(common: Common, merchants: OpenMerchants, watches: boolean) {
    this.#common = common;
    this.#merchants = merchants;
    this.#turns = new WorkTurns(common, merchants);
    this.#watch = watches ? new WriteWatch(this.#known, common, this.#servers) : null;
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** Merchants that are worked on and that wait for their turn, by the kind of work. */
  get counts(): WorkTurns["counts"] {
    return this.#turns.counts;
  }

  /** How often a merchant was asked, and how many can't be. */
  get visits(): { done: number; away: number } {
    const away = [...this.#known.values()].filter(({ failures, isBehind }) => failures > 0 || isBehind);
    return { done: this.#visited, away: away.length };
  }

  /** Notes that a merchant is new, another now, or gone: what it does ends. */
  outdate(name: string, merchant: Merchant | undefined): void {
    const before = this.#known.get(name);
    before?.leaving.abort();
    this.#known.delete(name);
    this.backlogs.forget(name);
    if (merchant?.state !== "active") return;
    const watches = this.#watch !== null;
    // A turn that is ending may still add to it
    const held = before?.url === merchant.databaseUrl ? before.held : [];
    const isStart = watches && this.#visited === 0;
    this.#known.set(name, {
      ...unseen(merchant.databaseUrl),
      visitAt: watches && !isStart ? performance.now() : Infinity,
      isUnknown: isStart,
      merchant,
      logger: this.#common.logger.child({ merchant: name }),
      leaving: new AbortController(),
      vain: 0,
      isBehind: false,
      held,
    });
  }

  /** Notes that somebody may have written something. */
  wake(name: string): void {
    const known = this.#known.get(name);
    if (!known) return;
    known.vain = known.changes = 0;
    const { inTurn, otherwise } = writtenMs;
    visitBy(known, known.visitedAt + (this.#turns.has("webhooks", name) ? inTurn : otherwise));
    if (known.visitAt <= performance.now()) this.#begin(known);
  }

  /** Notes that counts of use have been written: they make no work. */
  noteCounted(name: string, rows: number): void {
    const known = this.#known.get(name);
    if (known) noteOwn(known, rows);
  }

  /** Lets running work end, for some seconds, or returns it. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const { leaving } of this.#known.values()) leaving.abort();
    await Promise.all([this.#watch?.close(), this.#visits.close(), this.#turns.close()]);
  }

  #tick(): void {
    const now = performance.now();
    let unknown = Math.max(unknownAtOnce, Math.ceil((this.#known.size * tickMs) / allUnknownMs));
    if (this.#mustPutOff) {
      unknown = 0;
      this.#putOffMs += tickMs;
    }
    for (const known of this.#known.values())
      if (known.visitAt <= now || (known.isUnknown && unknown-- > 0)) this.#begin(known);
  }

  /**
   * Whether visits without a reason but the start are put off, while first requests are answered: both need Postgres for
   * new connections, and clients wait.
   */
  get #mustPutOff(): boolean {
    return this.#putOffMs < mostPutOffMs && this.#merchants.firstRequests.areThere;
  }

  #begin(known: Known): void {
    this.#visits.run(known.merchant.name, () => this.#visit(known), known.server);
  }

  /** Asks a merchant's database, and begins what is due. */
  async #visit(known: Known): Promise<void> {
    if (known.leaving.signal.aborted) return;
    if (known.visitAt > performance.now() && this.#mustPutOff) return;
    known.isUnknown = false;
    const waitUntil = this.#servers.waitUntil(known.server);
    known.isBehind = waitUntil !== null;
    if (waitUntil !== null) {
      this.backlogs.forget(known.merchant.name);
      return void (known.visitAt = waitUntil);
    }
    known.visitedAt = performance.now();
    known.visitAt = Infinity;
    this.#visited++;
    let due: Due;
    try {
      due = await this.#servers.attempt(known.server, () => this.#ask(known.merchant));
    } catch (error) {
      this.backlogs.forget(known.merchant.name);
      if (known.failures++ === 0)
        known.logger.warn({ err: error }, "a merchant's background work rests: its database can't be asked");
      return visitBy(known, performance.now() + growingPause(known.failures, pauses));
    }
    if (known.failures > 0) known.logger.info("a merchant's background work goes on");
    known.failures = 0;
    known.database = due.database;
    if (this.#watch !== null) this.#noteBacklog(known, due.backlog);
    const { settings, atOnce, spreadMs } = this.#common;
    const chores = choresOf(settings, known.merchant.name);
    for (const [kind, inMs] of plan(due, chores, { since: this.#since, spreadMs })) {
      if (atOnce[kind] === 0) continue;
      if (inMs > 0) visitBy(known, performance.now() + inMs);
      else this.#turns.take(kind, known, (worked) => this.#noteTurn(known, worked));
    }
  }

  #noteBacklog(known: Known, backlog: Due["backlog"]): void {
    if (!known.leaving.signal.aborted) this.backlogs.note(known.merchant.name, backlog);
    visitBy(known, known.visitedAt + (backlog && isBehind(backlog) ? behindMs : everyMs));
  }

  /** Has merchants asked that waited for their server. */
  #askAgain(server: string): void {
    let at = performance.now();
    for (const known of this.#known.values())
      if (known.isBehind && known.server === server) visitBy(known, (at += betweenMs));
  }

  /** Forgets what waits at merchants whose server can't be reached. */
  #forgetBacklogs(server: string): void {
    for (const known of this.#known.values()) {
      if (known.server !== server) continue;
      known.isBehind = true;
      this.backlogs.forget(known.merchant.name);
    }
  }

  async #ask({ name, databaseUrl }: Merchant): Promise<Due> {
    const { settings, allot } = this.#common;
    const chores = choresOf(settings, name).map((chore) => chore.name);
    const query = dueQuery(Object.keys(tasksOf(settings)), chores);
    // A connection that it has open is cheaper
    const pool = this.#merchants.find(name)?.pool;
    if (pool && pool.idleCount > 0) return readDueBy(pool, query);
    return briefly(databaseUrl, allot(name), (client) => readDue(client, query));
  }

  #noteTurn(known: Known, worked: boolean): void {
    known.vain = worked ? 0 : known.vain + 1;
    if (worked) known.changes = 0;
    // It may be another one by now
    const next = this.#known.get(known.merchant.name);
    if (next) visitBy(next, performance.now() + (worked ? 0 : growingPause(known.vain, pauses)));
  }
}
