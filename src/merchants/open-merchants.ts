import { databaseFailure } from "../errors/postgres-errors.ts";
import { UserError } from "../errors/user-error.ts";
import { FirstRequests } from "./first-requests.ts";
import type { Merchant } from "./merchant.ts";
import { openMerchant } from "./open-merchant.ts";
import type { SharedParts } from "./common.ts";
import type { OpenMerchant } from "./open-merchant.ts";

/** Milliseconds without requests after which a merchant is closed: its buckets of points are full again by then. */
const idleMs = 120_000;
/** Milliseconds between two checks for such merchants. */
const sweepMs = 5_000;
/** Milliseconds after which the end of a request triggers a check whether the database has been migrated. */
const stateHoldsMs = 5_000;
/** Merchants whose usage counts are written at a time, before the process ends. */
const countsAtOnce = 8;
/** Milliseconds before a merchant that couldn't be opened is tried again. */
const failureHoldsMs = 1_000;

/** Purpose of opening a merchant: a client's operation, another request, or background work. */
export type Purpose = "operation" | "other" | "background";

/** A merchant that is open, is being opened, or couldn't be opened a moment ago. */
interface Entry {
  merchant: Merchant;
  opening: Promise<OpenMerchant>;
  /** Once it is open. */
  open: OpenMerchant | null;
  /** When opening it failed. */
  failedAt: number | null;
  /** Aborted when it is to be closed. */
  closing: AbortController;
  /** The number of running requests. */
  running: number;
  usedAt: number;
  checkedAt: number;
  /** Whether it is being opened again. */
  isOutdated: boolean;
}

/** The open merchants of a process. The first request opens a merchant; it is closed after some time without requests. */
export class OpenMerchants {
  readonly firstRequests = new FirstRequests();
  readonly #common: SharedParts;
  readonly #onCounted: (merchant: string, rows: number) => void;
  readonly #entries = new Map<string, Entry>();
  /** Merchants that are finishing their last requests. */
  readonly #closing = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  /** @param onCounted called when a merchant's usage counts have been written, with the number of rows */
  constructor(common: SharedParts, onCounted: (merchant: string, rows: number) => void) {
    this.#common = common;
    this.#onCounted = onCounted;
    this.#timer = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /** The open merchants. */
  get all(): OpenMerchant[] {
    return [...this.#entries.values()].flatMap(({ open }) => open ?? []);
  }

  /** Returns the merchant with this name, if it is open. */
  find(name: string): OpenMerchant | null {
    return this.#entries.get(name)?.open ?? null;
  }

  /**
   * Opens a merchant, unless it is open, and keeps it open during some work.
   *
   * @param work called with the merchant, at once if it is open, and with a signal that it will be closed within seconds
   * @throws when it can't be opened
   */
  async use<T>(
    merchant: Merchant,
    purpose: Purpose,
    work: (open: OpenMerchant, leaving: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const entry = this.#getEntry(merchant, purpose);
    const firstAnswered = entry.open || purpose === "background" ? null : this.firstRequests.begin();
    entry.running++;
    try {
      return await work(entry.open ?? (await entry.opening), entry.closing.signal);
    } finally {
      entry.running--;
      entry.usedAt = performance.now();
      firstAnswered?.();
      this.#checkMigrations(entry);
    }
  }

  /** Closes a merchant that has changed, once its running requests have ended. */
  invalidate(name: string): void {
    const entry = this.#entries.get(name);
    if (entry) this.#closeEntry(entry);
  }

  /** Writes the remaining usage counts, before the process ends. */
  async writeCounts(): Promise<void> {
    const next = this.all.values();
    const write = async () => {
      for (const { app } of next) await app.usage.flush();
    };
    await Promise.all(Array.from({ length: countsAtOnce }, write));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const entry of this.#entries.values()) this.#closeEntry(entry, 0);
    await Promise.all(this.#closing);
  }

  #getEntry(merchant: Merchant, purpose: Purpose): Entry {
    const known = this.#entries.get(merchant.name);
    if (known?.merchant === merchant && !this.#mayRetry(known)) return known;
    if (known) this.#closeEntry(known);
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
      closing: new AbortController(),
      running: 0,
      usedAt: now,
      checkedAt: now,
      isOutdated: false,
    };
    entry.opening.then(
      (open) => {
        entry.open = open;
        entry.checkedAt = entry.usedAt = performance.now();
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

  /** Checks from time to time whether the database has been migrated. Without a listener, each request checks it anyway. */
  #checkMigrations(entry: Entry): void {
    if (!entry.open || entry.closing.signal.aborted) return;
    if (performance.now() - entry.checkedAt < stateHoldsMs) return;
    entry.checkedAt = performance.now();
    entry.open.app.rights.checkForChanges().catch((error: Error) => this.#report(entry.merchant, error));
  }

  /** Notes the state of a database's migrations. If it has changed, opens the merchant again and then closes the old one. */
  #noteState(entry: Entry, state: string): void {
    entry.checkedAt = performance.now();
    if (!entry.open || entry.isOutdated || entry.open.state === state) return;
    entry.isOutdated = true;
    const replace = async () => {
      const next = this.#open(entry.merchant);
      await next.opening;
      if (this.#entries.get(entry.merchant.name) !== entry) return closeWhenDone(next, 0);
      this.#closeEntry(entry);
      this.#entries.set(entry.merchant.name, next);
    };
    // On failure the old one continues; the next check tries again
    const replacing = replace()
      .catch((error: Error) => {
        entry.isOutdated = false;
        this.#report(entry.merchant, error);
      })
      .finally(() => this.#closing.delete(replacing));
    this.#closing.add(replacing);
  }

  #sweep(): void {
    const now = performance.now();
    for (const entry of this.#entries.values()) {
      const isIdle = entry.open !== null && entry.running === 0 && now - entry.usedAt > idleMs;
      if (isIdle || this.#mayRetry(entry)) this.#closeEntry(entry);
    }
  }

  /** Lets a merchant finish its running requests, then closes it. */
  #closeEntry(entry: Entry, withinMs = lastRequestsMs): void {
    if (this.#entries.get(entry.merchant.name) === entry) this.#entries.delete(entry.merchant.name);
    entry.closing.abort();
    const leaving = closeWhenDone(entry, withinMs).finally(() => this.#closing.delete(leaving));
    this.#closing.add(leaving);
  }
}

/** Milliseconds for the last requests, and between two checks whether they are done. */
const [lastRequestsMs, lookMs] = [20_000, 50];

async function closeWhenDone(entry: Entry, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (entry.running > 0 && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, lookMs).unref());
  const open = await entry.opening.catch(() => null);
  await open?.close().catch(() => {});
}
