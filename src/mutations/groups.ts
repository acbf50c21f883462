import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";
import { FairQueue } from "../lib/fair-queue.ts";
import type { UnderWay } from "./patience.ts";
import { Patience } from "./patience.ts";

/** A call that may be made with others: of one line, and so of one product. */
export interface Booking<Done> {
  /** The credential that asks for it. */
  client: string;
  product: string;
  /** Whether it can be made again when it isn't known whether it was done. */
  isRepeatable: boolean;
  /** Makes the call alone. @param onBegin called when it is about to be sent */
  alone(onBegin: () => void): Promise<Done>;
}

/**
 * Makes calls together, by one statement: for each in its place what it answers, or null when it was not done.
 *
 * @throws when none was done, or when that isn't known
 */
export type BookTogether<Done, B> = (bookings: readonly B[]) => Promise<(Done | null)[]>;

/** Calls of a group. */
const maxTogether = 32;
/** Calls under way or waiting to be made, in all and of one credential. */
const [maxAdmitted, maxAdmittedPerClient] = [128, maxTogether];
/** Groups under way. */
const maxGroups = 4;
/** Calls in succession that were not plain, after which calls like them are made alone for some milliseconds. */
const [oddOnes, aloneForMs, maxKnown] = [3, 1_000, 10_000];
/** How often a call is put back because of one before it. */
const maxRounds = 3;

/** A call that has been admitted. */
interface Waiting<B, Done> {
  booking: B;
  /** Its place in the order of arrival. */
  nth: number;
  since: number;
  /** How often it was put back. */
  rounds: number;
  settle(answer: Done): void;
  fail(error: Error): void;
}

/**
 * Group commit: calls that arrive while others are under way are made together, by one statement and one commit. A call that
 * finds nothing under way, or few calls, is made at once, alone. What isn't plain, or would be refused, is made alone
 * afterwards.
 *
 * Calls of one product are made in the order of their arrival: while one is under way, others of its product wait. When more
 * wait than a group can have, credentials take turns.
 */
export class BookingGroups<Done, B extends Booking<Done> = Booking<Done>> {
  readonly #together: BookTogether<Done, B>;
  readonly #isUncertain: (error: unknown) => boolean;
  readonly #turns = new FairQueue({ limit: () => maxAdmitted, limitPerOwner: () => maxAdmittedPerClient });
  #count = 0;
  /** In the order of their arrival. */
  #waiting: Waiting<B, Done>[] = [];
  /** How many calls of a product are under way, and how many of a credential and product wait for a connection. */
  readonly #busy = new Map<string, number>();
  /** How many calls of a credential and product in succession were not plain. */
  readonly #odd = new LRUCache<string, number>({ ...atMost(maxKnown), ttl: aloneForMs });
  readonly #underWay: UnderWay = { calls: 0, groups: 0, singles: 0 };
  readonly #patience = new Patience();
  #timer: NodeJS.Timeout | undefined;

  /** @param isUncertain whether an error of `together` leaves open what was done */
  constructor(together: BookTogether<Done, B>, isUncertain: (error: unknown) => boolean) {
    this.#together = together;
    this.#isUncertain = isUncertain;
  }

  /** Makes a call, alone or with others. */
  book(booking: B): Promise<Done> {
    return new Promise((resolve, reject) => {
      this.#turns.take(booking.client, (refusal) => {
        if (refusal) return reject(refusal);
        this.#waiting.push({
          ...{ booking, nth: this.#count++, since: performance.now(), rounds: 0 },
          settle: (answer) => {
            resolve(answer);
            this.#turns.end(booking.client);
          },
          fail: (error) => {
            reject(error);
            this.#turns.end(booking.client);
          },
        });
        this.#begin();
      });
    });
  }

  /** Begins what can begin now. */
  #begin(): void {
    clearTimeout(this.#timer);
    for (;;) {
      const areFew = this.#patience.areFew(this.#waiting.length + this.#underWay.calls);
      const next = this.#next().slice(0, areFew ? 1 : undefined);
      const [first] = next;
      if (!first || (next.length > 1 && this.#underWay.groups >= maxGroups)) return;
      const waitMs = first.since + this.#patience.waitMs(next.length, this.#underWay) - performance.now();
      if (waitMs > 0 && !areFew && !this.#isOdd(first)) {
        this.#timer = setTimeout(() => this.#begin(), waitMs);
        return;
      }
      this.#patience.noteBegin(next.length);
      const chosen = new Set(next);
      this.#waiting = this.#waiting.filter((each) => !chosen.has(each));
      if (next.length === 1) void this.#makeAlone(first);
      else void this.#makeTogether(next);
    }
  }

  /** What would be made now, in the order of arrival: a group, or one call. */
  #next(): Waiting<B, Done>[] {
    const passed = new Set<string>();
    const byClient = new Map<string, Waiting<B, Done>[]>();
    let count = 0;
    for (const each of this.#waiting) {
      const { client, product } = each.booking;
      if (passed.has(product) || this.#busy.has(product) || this.#busy.has(lineOf(each))) continue;
      if (this.#isOdd(each)) {
        if (count === 0) return [each];
        passed.add(product);
        continue;
      }
      count++;
      const own = byClient.get(client);
      if (own) own.push(each);
      else byClient.set(client, [each]);
    }
    return inTurns([...byClient.values()], maxTogether).sort((a, b) => a.nth - b.nth);
  }

  #isOdd(waiting: Waiting<B, Done>): boolean {
    return waiting.rounds >= maxRounds || (this.#odd.get(lineOf(waiting)) ?? 0) >= oddOnes;
  }

  async #makeAlone(waiting: Waiting<B, Done>): Promise<void> {
    const { booking, settle, fail } = waiting;
    // Until it has a connection only the credential's own calls wait for it
    let held = lineOf(waiting);
    let start = 0;
    this.#note(held, 1);
    const onBegin = () => {
      if (start > 0) return;
      start = performance.now();
      this.#underWay.singles++;
      this.#underWay.calls++;
      this.#note(held, -1);
      this.#note((held = booking.product), 1);
    };
    try {
      settle(await booking.alone(onBegin));
    } catch (error) {
      fail(error as Error);
    }
    this.#note(held, -1);
    if (start > 0) {
      this.#underWay.singles--;
      this.#end(start, 1);
    }
    this.#begin();
  }

  async #makeTogether(group: readonly Waiting<B, Done>[]): Promise<void> {
    const start = performance.now();
    this.#underWay.groups++;
    this.#underWay.calls += group.length;
    const products = new Set(group.map(({ booking }) => booking.product));
    for (const product of products) this.#note(product, 1);
    const undone = await this.#tryTogether(group);
    this.#underWay.groups--;
    this.#end(start, group.length);
    for (const product of products) this.#note(product, -1);
    const firsts = new Set<string>();
    for (const each of undone) {
      const { product } = each.booking;
      if (firsts.has(product)) {
        // Because of the first, or behind it
        each.rounds++;
        this.#waiting.push(each);
      } else {
        firsts.add(product);
        this.#odd.set(lineOf(each), (this.#odd.get(lineOf(each)) ?? 0) + 1);
        void this.#makeAlone(each);
      }
    }
    this.#waiting.sort((a, b) => a.nth - b.nth);
    this.#begin();
  }

  /** @returns those that were not done */
  async #tryTogether(group: readonly Waiting<B, Done>[]): Promise<Waiting<B, Done>[]> {
    try {
      const answers = await this.#together(group.map(({ booking }) => booking));
      return group.filter((waiting, index) => {
        const answer = answers[index] ?? null;
        if (answer === null) return true;
        this.#odd.delete(lineOf(waiting));
        waiting.settle(answer);
        return false;
      });
    } catch (error) {
      if (!this.#isUncertain(error)) return [...group];
      return group.filter(({ booking, fail }) => {
        if (!booking.isRepeatable) fail(error as Error);
        return booking.isRepeatable;
      });
    }
  }

  #note(key: string, change: number): void {
    const count = (this.#busy.get(key) ?? 0) + change;
    if (count > 0) this.#busy.set(key, count);
    else this.#busy.delete(key);
  }

  #end(start: number, calls: number): void {
    this.#underWay.calls -= calls;
    this.#patience.noteEnd(performance.now() - start);
  }
}

/** The calls of a credential that concern one product. */
const lineOf = ({ booking: { client, product } }: Waiting<Booking<unknown>, never>): string =>
  `${client} ${product}`;

/** The first few of several lists, one of each in turns. */
function inTurns<T>(lists: readonly (readonly T[])[], count: number): T[] {
  const [only] = lists;
  if (lists.length === 1) return only!.slice(0, count);
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  const chosen: T[] = [];
  for (let round = 0; round < longest && chosen.length < count; round++)
    for (const list of lists) if (round < list.length && chosen.length < count) chosen.push(list[round]!);
  return chosen;
}
