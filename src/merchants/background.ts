import { listChores } from "../jobs/chores.ts";
import { createTasks } from "../process/background-work.ts";
import { growingPause } from "../lib/retry.ts";
import { UnreachableServers, retryPauses } from "./away-servers.ts";
import type { SharedParts } from "./common.ts";
import { Backlogs, hasDueWork } from "./backlogs.ts";
import { withBriefConnection, dueQuery, planWork, readDue, readDueBy } from "./due.ts";
import type { DueWork } from "./due.ts";
import { MerchantTurns } from "./merchant-turns.ts";
import type { Merchant } from "./merchant.ts";
import type { OpenMerchants } from "./open-merchants.ts";
import { WorkTurns } from "./work.ts";
import type { WorkItem } from "./work.ts";
import { noteOwnRows, createWatched, scheduleVisit, WriteWatch } from "./write-watch.ts";
import type { Watched } from "./write-watch.ts";

/** Milliseconds between two checks for merchants whose visit is due. */
const tickMs = 250;
/** Minimum visits per check to merchants that haven't been visited since the start. All are visited within a minute. */
const [unknownAtOnce, allUnknownMs] = [6, 60_000];
/** The maximum total delay of these visits in milliseconds. */
const maxDelayMs = 60_000;
/** Milliseconds between visits to merchants of a server that can be reached again. */
const betweenMs = 40;
/** Milliseconds until the next visit to a merchant after a write: during its turn at webhooks, and otherwise. */
const writtenMs = { inTurn: 1_000, otherwise: 50 };
/** Milliseconds until the next visit to any merchant. Writes are noticed earlier, unless Postgres collects no statistics. */
const routineMs = 3_600_000;
/** Milliseconds until the next visit to a merchant with a backlog, to update its metrics. */
const backlogMs = 15_000;
/** Concurrent visits, in total and to one server, so that a server that doesn't respond delays no others. */
const [visitsAtOnce, visitsOfServer] = [8, 2];

/** The state of a merchant's background work. */
interface Known extends Watched, WorkItem {
  /** Whether it waits until another merchant's visit reaches their server. */
  isWaitingForServer: boolean;
}

/**
 * The background work of all merchants of a process. A visit asks a merchant's database when there will be work; the next
 * visit is then. A merchant with work gets a turn, which opens the merchant and lasts until nothing is due.
 */
export class Background {
  /** The backlogs of all merchants, if this process watches them. */
  readonly backlogs = new Backlogs(() => this.#known.size);
  readonly #common: SharedParts;
  readonly #merchants: OpenMerchants;
  readonly #known = new Map<string, Known>();
  readonly #turns: WorkTurns;
  readonly #visits = new MerchantTurns(visitsAtOnce, visitsOfServer);
  readonly #servers = new UnreachableServers({
    onBack: (server) => this.#visitAgain(server),
    onAway: (server) => this.#forgetBacklogs(server),
  });
  readonly #watch: WriteWatch | null;
  readonly #timer: NodeJS.Timeout;
  readonly #since = Date.now();
  #visited = 0;
  #delayedMs = 0;

  /** @param watches whether it watches all merchants, and not only those that this process writes to */
  constructor(common: SharedParts, merchants: OpenMerchants, watches: boolean) {
    this.#common = common;
    this.#merchants = merchants;
    this.#turns = new WorkTurns(common, merchants);
    this.#watch = watches ? new WriteWatch(this.#known, common, this.#servers) : null;
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** The numbers of merchants that have a turn and that wait for one, by the kind of work. */
  get counts(): WorkTurns["counts"] {
    return this.#turns.counts;
  }

  /** The number of visits, and of merchants whose database can't be reached. */
  get visits(): { done: number; away: number } {
    const away = [...this.#known.values()].filter(
      ({ failures, isWaitingForServer: isBehind }) => failures > 0 || isBehind,
    );
    return { done: this.#visited, away: away.length };
  }

  /** Notes that a merchant is new, changed or removed. Its current work is aborted. */
  update(name: string, merchant: Merchant | undefined): void {
    const before = this.#known.get(name);
    before?.leaving.abort();
    this.#known.delete(name);
    this.backlogs.forget(name);
    if (merchant?.state !== "active") return;
    const watches = this.#watch !== null;
    // A turn that is ending may still add to this list
    const held = before?.url === merchant.databaseUrl ? before.held : [];
    const isStart = watches && this.#visited === 0;
    this.#known.set(name, {
      ...createWatched(merchant.databaseUrl),
      visitAt: watches && !isStart ? performance.now() : Infinity,
      isUnknown: isStart,
      merchant,
      logger: this.#common.logger.child({ merchant: name }),
      leaving: new AbortController(),
      idleTurns: 0,
      isWaitingForServer: false,
      held,
    });
  }

  /** Notes that a client may have written something. */
  wake(name: string): void {
    const known = this.#known.get(name);
    if (!known) return;
    known.idleTurns = known.changes = 0;
    const { inTurn, otherwise } = writtenMs;
    scheduleVisit(known, known.visitedAt + (this.#turns.has("webhooks", name) ? inTurn : otherwise));
    if (known.visitAt <= performance.now()) this.#begin(known);
  }

  /** Notes that usage counts have been written, which cause no work. */
  noteCounted(name: string, rows: number): void {
    const known = this.#known.get(name);
    if (known) noteOwnRows(known, rows);
  }

  /** Waits some seconds for running work, or returns jobs to the queue. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    for (const { leaving } of this.#known.values()) leaving.abort();
    await Promise.all([this.#watch?.close(), this.#visits.close(), this.#turns.close()]);
  }

  #tick(): void {
    const now = performance.now();
    let unknown = Math.max(unknownAtOnce, Math.ceil((this.#known.size * tickMs) / allUnknownMs));
    if (this.#mustDelayVisits) {
      unknown = 0;
      this.#delayedMs += tickMs;
    }
    for (const known of this.#known.values())
      if (known.visitAt <= now || (known.isUnknown && unknown-- > 0)) this.#begin(known);
  }

  /**
   * Whether first visits after the start are delayed because first requests to merchants are running. Both open
   * connections, which is work for Postgres, and clients are waiting.
   */
  get #mustDelayVisits(): boolean {
    return this.#delayedMs < maxDelayMs && this.#merchants.firstRequests.areRunning;
  }

  #begin(known: Known): void {
    this.#visits.run(known.merchant.name, () => this.#visit(known), known.server);
  }

  /** Asks a merchant's database what is due, and starts it. */
  async #visit(known: Known): Promise<void> {
    if (known.leaving.signal.aborted) return;
    if (known.visitAt > performance.now() && this.#mustDelayVisits) return;
    known.isUnknown = false;
    const waitUntil = this.#servers.nextAttemptAt(known.server);
    known.isWaitingForServer = waitUntil !== null;
    if (waitUntil !== null) {
      this.backlogs.forget(known.merchant.name);
      return void (known.visitAt = waitUntil);
    }
    known.visitedAt = performance.now();
    known.visitAt = Infinity;
    this.#visited++;
    let due: DueWork;
    try {
      due = await this.#servers.attempt(known.server, () => this.#readDue(known.merchant));
    } catch (error) {
      this.backlogs.forget(known.merchant.name);
      if (known.failures++ === 0)
        known.logger.warn(
          { err: error },
          "a merchant's background work is paused: its database can't be reached",
        );
      return scheduleVisit(known, performance.now() + growingPause(known.failures, retryPauses));
    }
    if (known.failures > 0) known.logger.info("a merchant's background work continues");
    known.failures = 0;
    known.database = due.database;
    if (this.#watch !== null) this.#noteBacklog(known, due.backlog);
    const { settings, atOnce, spreadMs } = this.#common;
    const chores = listChores(settings, known.merchant.name);
    for (const [kind, inMs] of planWork(due, chores, { since: this.#since, spreadMs })) {
      if (atOnce[kind] === 0) continue;
      if (inMs > 0) scheduleVisit(known, performance.now() + inMs);
      else this.#turns.take(kind, known, (worked) => this.#noteTurn(known, worked));
    }
  }

  #noteBacklog(known: Known, backlog: DueWork["backlog"]): void {
    if (!known.leaving.signal.aborted) this.backlogs.note(known.merchant.name, backlog);
    scheduleVisit(known, known.visitedAt + (backlog && hasDueWork(backlog) ? backlogMs : routineMs));
  }

  /** Schedules visits to merchants that waited for their server. */
  #visitAgain(server: string): void {
    let at = performance.now();
    for (const known of this.#known.values())
      if (known.isWaitingForServer && known.server === server) scheduleVisit(known, (at += betweenMs));
  }

  /** Forgets the backlogs of merchants whose server can't be reached. */
  #forgetBacklogs(server: string): void {
    for (const known of this.#known.values()) {
      if (known.server !== server) continue;
      known.isWaitingForServer = true;
      this.backlogs.forget(known.merchant.name);
    }
  }

  async #readDue({ name, databaseUrl }: Merchant): Promise<DueWork> {
    const { settings, allot } = this.#common;
    const chores = listChores(settings, name).map((chore) => chore.name);
    const query = dueQuery(Object.keys(createTasks(settings)), chores);
    // An idle connection of the open merchant is cheaper
    const pool = this.#merchants.find(name)?.pool;
    if (pool && pool.idleCount > 0) return readDueBy(pool, query);
    return withBriefConnection(databaseUrl, allot(name), (client) => readDue(client, query));
  }

  #noteTurn(known: Known, worked: boolean): void {
    known.idleTurns = worked ? 0 : known.idleTurns + 1;
    if (worked) known.changes = 0;
    // The merchant may have changed meanwhile
    const next = this.#known.get(known.merchant.name);
    if (next)
      scheduleVisit(next, performance.now() + (worked ? 0 : growingPause(known.idleTurns, retryPauses)));
  }
}
