import { databaseFailure } from "../../errors/postgres-errors.ts";
import { UserError } from "../../errors/user-error.ts";
import { FirstRequests } from "./first-requests.ts";
import { openMerchant } from "./open-merchant.ts";
import type { Common, OpenMerchant } from "./open-merchant.ts";
import type { Merchant } from "./merchant.ts";

/** Milliseconds without requests after which a merchant is closed: its counts of points are full again by then. */
const defaultIdleMs = 120_000;
/** Milliseconds between two looks for such merchants. */
const sweepMs = 5_000;
/** Milliseconds after which it is asked, behind a request, whether the database has had other migrations. */
const stateHoldsMs = 5_000;
/** Merchants whose counts of use are written at a time, before the end. */
const countsAtOnce = 8;
/** Milliseconds for which a merchant that can't be opened isn't tried again. */
const failureHoldsMs = 1_000;
/** What a merchant is opened for: an operation of a client, anything else that it asks for, or background work. */
export type Purpose = "operation" | "other" | "background";

/** A merchant that is open, or being opened. */
interface Entry {
  merchant: Merchant;
  opening: Promise<OpenMerchant>;
  /** Once it is open. */
  open: OpenMerchant | null;
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
  readonly #idleMs: number;
  readonly #entries = new Map<string, Entry>();
  /** Those that answer their last requests. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #failures = new Map<string, { error: Error; at: number }>();
  readonly #timer: NodeJS.Timeout;

  constructor(common: Common, idleMs = defaultIdleMs) {
    this.#common = common;
    this.#idleMs = idleMs;
    this.#timer = setInterval(() => this.#closeIdle(), Math.min(sweepMs, idleMs)).unref();
  }

  /** Those that are open. */
  get all(): OpenMerchant[] {
    return [...this.#entries.values()].flatMap(({ open }) => open ?? []);
  }

  /**
   * Opens a merchant, if it isn't, and keeps it open.
   *
   * @param onOpen called with it, at once where it is open, with a function to be called when it is done, and a signal
   *   that it is to be closed
   */
  use(
    merchant: Merchant,
    onOpen: (open: OpenMerchant, done: () => void, leaving: AbortSignal) => void,
    onFailure: (error: Error) => void,
    purpose: Purpose,
  ): void {
    const entry = this.#entryOf(merchant, purpose);
    if (entry instanceof Error) return onFailure(entry);
    entry.running++;
    const firstAnswered = entry.open || purpose === "background" ? null : this.firstRequests.begin();
    const done = () => {
      entry.running--;
      entry.usedAt = performance.now();
      firstAnswered?.();
      this.#look(entry);
    };
    if (entry.open) return onOpen(entry.open, done, entry.leaving.signal);
    const fail = (error: Error) => {
      done();
      onFailure(error);
    };
    entry.opening.then((open) => onOpen(open, done, entry.leaving.signal), fail);
  }

  /** The merchant of this name, if it is open. */
  find(name: string): OpenMerchant | null {
    return this.#entries.get(name)?.open ?? null;
  }

  /**
   * Opens a merchant, if it isn't, and keeps it open during some work.
   *
   * @param work called with it, and a signal that it is to be closed, within seconds
   * @throws when it can't be opened
   */
  during<T>(merchant: Merchant, work: (open: OpenMerchant, leaving: AbortSignal) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.use(
        merchant,
        (open, done, leaving) => void work(open, leaving).finally(done).then(resolve, reject),
        reject,
        "background",
      );
    });
  }

  /** Closes a merchant that is another now, when its running requests are answered. */
  outdate(name: string): void {
    this.#failures.delete(name);
    const entry = this.#entries.get(name);
    if (entry) this.#leave(entry);
  }

  /** Writes what waits of counts of use, before the end. */
  async writeCounts(): Promise<void> {
    const next = this.all.values();
    const write = async () => {
      for (const { app } of next) await app.writeCounts();
    };
    await Promise.all(Array.from({ length: countsAtOnce }, write));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const entry of this.#entries.values()) this.#leave(entry, 0);
    await Promise.all(this.#leaving);
  }

  #entryOf(merchant: Merchant, purpose: Purpose): Entry | Error {
    const known = this.#entries.get(merchant.name);
    if (known?.merchant === merchant) return known;
    const failure = this.#failures.get(merchant.name);
    if (failure && performance.now() - failure.at < failureHoldsMs) return failure.error;
    if (known) this.#leave(known);
    return this.#open(merchant, purpose);
  }

  #open(merchant: Merchant, purpose: Purpose): Entry {
    const entry = this.#begin(merchant, purpose === "operation");
    const { opening } = entry;
    this.#entries.set(merchant.name, entry);
    opening.then(
      (open) => {
        this.#failures.delete(merchant.name);
        entry.open = open;
        entry.lookedAt = entry.usedAt = performance.now();
      },
      (error: Error) => {
        this.#failures.set(merchant.name, { error, at: performance.now() });
        if (this.#entries.get(merchant.name) === entry) this.#entries.delete(merchant.name);
        this.#tell(merchant, error);
      },
    );
    return entry;
  }

  #begin(merchant: Merchant, forOperation = false): Entry {
    const now = performance.now();
    const onState = (state: string) => this.#noteState(entry, state);
    const opening = openMerchant(merchant, this.#common, { forOperation, onState });
    const entry: Entry = {
      ...{ merchant, opening, open: null, leaving: new AbortController(), running: 0 },
      ...{ usedAt: now, lookedAt: now, isOutdated: false },
    };
    return entry;
  }

  #tell({ name }: Merchant, error: Error): void {
    const { logger } = this.#common;
    const isExpected = error instanceof UserError || databaseFailure(error) !== null;
    if (isExpected) logger.warn({ merchant: name, err: error }, "a merchant can't be opened");
    else logger.error({ merchant: name, err: error }, "a merchant can't be opened");
  }

  /** Asks now and then whether the database has been migrated. Who doesn't listen to changes of rights does so anyway. */
  #look(entry: Entry): void {
    if (!entry.open || entry.leaving.signal.aborted) return;
    if (performance.now() - entry.lookedAt < stateHoldsMs) return;
    entry.lookedAt = performance.now();
    entry.open.app.look().catch((error: Error) => this.#tell(entry.merchant, error));
  }

  /** Notes which migrations a database has had. If they are others, the merchant is opened again beside the old one. */
  #noteState(entry: Entry, state: string): void {
    entry.lookedAt = performance.now();
    if (!entry.open || entry.isOutdated || entry.open.state === state) return;
    entry.isOutdated = true;
    const replace = async () => {
      const next = this.#begin(entry.merchant);
      next.open = await next.opening;
      if (this.#entries.get(entry.merchant.name) !== entry) return next.open.close();
      this.#leave(entry);
      this.#entries.set(entry.merchant.name, next);
    };
    // The old one goes on; the next look tries again
    const replacing = replace()
      .catch((error: Error) => {
        entry.isOutdated = false;
        this.#tell(entry.merchant, error);
      })
      .finally(() => this.#leaving.delete(replacing));
    this.#leaving.add(replacing);
  }

  #closeIdle(): void {
    const now = performance.now();
    for (const entry of this.#entries.values())
      if (entry.open && entry.running === 0 && now - entry.usedAt > this.#idleMs) this.#leave(entry);
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
