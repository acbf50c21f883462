import { databaseFailure } from "../errors/postgres-errors.ts";
import { UserError } from "../errors/user-error.ts";
import { FirstRequests } from "./first-requests.ts";
import type { Merchant } from "./merchant.ts";
import { openMerchant } from "./open-merchant.ts";
import type { Common } from "./common.ts";
import type { OpenMerchant } from "./open-merchant.ts";

/** Milliseconds without requests after which a merchant is closed: its counts of points are full again by then. */
const idleMs = 120_000;
/** Milliseconds between two looks for such merchants. */
const sweepMs = 5_000;
/** Milliseconds after which it is asked, behind a request, whether the database has had other migrations. */
const stateHoldsMs = 5_000;
/** Merchants whose counts of use are written at a time, before the end. */
const countsAtOnce = 8;
/** Milliseconds for which a merchant that can't be opened isn't tried again. */
const failureHoldsMs = 1_000;

/** Purpose of opening a merchant: a client's operation, another request, or background work. */
export type Purpose = "operation" | "other" | "background";

/** A merchant that is open, or being opened, or couldn't be opened a moment ago. */
interface Entry {
  merchant: Merchant;
  opening: Promise<OpenMerchant>;
  /** Once it is open. */
  open: OpenMerchant | null;
  /** When it couldn't be opened. */
  failedAt: number | null;
  /** Aborted when it is to be closed. */
  leaving: AbortController;
  /** Requests that are being answered. */
  running: number;
  usedAt: number;
  lookedAt: number;
  /** Whether it is being opened again. */
  isOutdated: boolean;
}

/** The merchants of a process. Each is opened by its first request, and closed when there have been none for a while. */
export class OpenMerchants {
  readonly firstRequests = new FirstRequests();
  readonly #common: Common;
  readonly #onCounted: (merchant: string, rows: number) => void;
  readonly #entries = new Map<string, Entry>();
  /** Merchants that answer their last requests. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  /** @param onCounted called when counts of use of a merchant have been written, with the number of rows */
  constructor(common: Common, onCounted: (merchant: string, rows: number) => void) {
    this.#common = common;
    this.#onCounted = onCounted;
    this.#timer = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /** The open merchants. */
  get all(): OpenMerchant[] {
    return [...this.#entries.values()].flatMap(({ open }) => open ?? []);
  }

  /** The merchant of this name, if it is open. */
  find(name: string): OpenMerchant | null {
    return this.#entries.get(name)?.open ?? null;
  }

  /**
   * Opens a merchant, if it isn't, and keeps it open during some work.
   *
   * @param work called with it, at once where it is open, and a signal that it is to be closed within seconds
   * @throws when it can't be opened
   */
  async use<T>(
    merchant: Merchant,
    purpose: Purpose,
    work: (open: OpenMerchant, leaving: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const entry = this.#entryOf(merchant, purpose);
    const firstAnswered = entry.open || purpose === "background" ? null : this.firstRequests.begin();
    entry.running++;
    try {
      return await work(entry.open ?? (await entry.opening), entry.leaving.signal);
    } finally {
      entry.running--;
      entry.usedAt = performance.now();
      firstAnswered?.();
      this.#look(entry);
    }
  }

  /** Closes a merchant that is another now, when its running requests are answered. */
  outdate(name: string): void {
    const entry = this.#entries.get(name);
    if (entry) this.#leave(entry);
  }

  /** Writes what waits of counts of use, before the end. */
  async writeCounts(): Promise<void> {
    const next = this.all.values();
    const write = async () => {
      for (const { app } of next) await app.usage.flush();
    };
    await Promise.all(Array.from({ length: countsAtOnce }, write));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const entry of this.#entries.values()) this.#leave(entry, 0);
    await Promise.all(this.#leaving);
  }

  #entryOf(merchant: Merchant, purpose: Purpose): Entry {
    const known = this.#entries.get(merchant.name);
    if (known?.merchant === merchant && !this.#mayRetry(known)) return known;
    if (known) this.#leave(known);
    const entry = this.#open(merchant, purpose === "operation");
    this.#entries.set(merchant.name, entry);
    entry.opening.catch((error: Error) => this.#report(merchant, error));
    return entry;
  }

  #mayRetry({ failedAt }: Entry): boolean {
    return failedAt !== null && performance.now() - failedAt > failureHoldsMs;
  }

  #open(merchant: Merchant, forOperation = false): Entry {
    const now = performance.now();
    const onState = (state: string) => this.#noteState(entry, state);
    const onCounted = (rows: number) => this.#onCounted(merchant.name, rows);
    const entry: Entry = {
      merchant,
      opening: openMerchant(merchant, this.#common, { forOperation, onState, onCounted }),
      open: null,
      failedAt: null,
      leaving: new AbortController(),
      running: 0,
      usedAt: now,
      lookedAt: now,
      isOutdated: false,
    };
    entry.opening.then(
      (open) => {
        entry.open = open;
        entry.lookedAt = entry.usedAt = performance.now();
      },
      () => (entry.failedAt = performance.now()),
    );
    return entry;
  }

  #report({ name }: Merchant, error: Error): void {
    const { logger } = this.#common;
    const isExpected = error instanceof UserError || databaseFailure(error) !== null;
    if (isExpected) logger.warn({ merchant: name, err: error }, "a merchant can't be opened");
    else logger.error({ merchant: name, err: error }, "a merchant can't be opened");
  }

  /** Asks now and then whether the database has been migrated. One that doesn't listen to changes of rights is told anyway. */
  #look(entry: Entry): void {
    if (!entry.open || entry.leaving.signal.aborted) return;
    if (performance.now() - entry.lookedAt < stateHoldsMs) return;
    entry.lookedAt = performance.now();
    entry.open.app.rights.look().catch((error: Error) => this.#report(entry.merchant, error));
  }

  /** Notes which migrations a database has had. If they are others, the merchant is opened again beside the old one. */
  #noteState(entry: Entry, state: string): void {
    entry.lookedAt = performance.now();
    if (!entry.open || entry.isOutdated || entry.open.state === state) return;
    entry.isOutdated = true;
    const replace = async () => {
      const next = this.#open(entry.merchant);
      await next.opening;
      if (this.#entries.get(entry.merchant.name) !== entry) return closeWhenDone(next, 0);
      this.#leave(entry);
      this.#entries.set(entry.merchant.name, next);
    };
    // The old one goes on; the next look tries again
    const replacing = replace()
      .catch((error: Error) => {
        entry.isOutdated = false;
        this.#report(entry.merchant, error);
      })
      .finally(() => this.#leaving.delete(replacing));
    this.#leaving.add(replacing);
  }

  #sweep(): void {
    const now = performance.now();
    for (const entry of this.#entries.values()) {
      const isIdle = entry.open !== null && entry.running === 0 && now - entry.usedAt > idleMs;
      if (isIdle || this.#mayRetry(entry)) this.#leave(entry);
    }
  }

  /** Lets a merchant answer its running requests, then closes it. */
  #leave(entry: Entry, withinMs = lastRequestsMs): void {
    if (this.#entries.get(entry.merchant.name) === entry) this.#entries.delete(entry.merchant.name);
    entry.leaving.abort();
    const leaving = closeWhenDone(entry, withinMs).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}

/** Milliseconds for the last requests, and between two looks whether they are done. */
const [lastRequestsMs, lookMs] = [20_000, 50];

async function closeWhenDone(entry: Entry, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (entry.running > 0 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, lookMs).unref());
  const open = await entry.opening.catch(() => null);
  await open?.close().catch(() => {});
}
