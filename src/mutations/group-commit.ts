import { LRUCache } from "lru-cache";
import { atMost } from "../lib/at-most.ts";
import { FairQueue } from "../lib/fair-queue.ts";
import type { UnderWay } from "./patience.ts";
import { Patience } from "./patience.ts";

/** A call that may be made with others. */
export interface GroupCall<Done> {
  /** The credential that asks for it. */
  client: string;
  /** Calls with the same key, such as those of one product, are made in the order of their arrival. */
  key: string;
  /** Whether it can be made again when it isn't known whether it was done. */
  isRepeatable: boolean;
  /** Makes the call alone. @param onBegin called when it is about to be sent */
  alone(onBegin: () => void): Promise<Done>;
}

/**
 * Makes calls together, by one statement: for each in its place what it answers, or null when it was not done.
 *
 * @throws {GroupLost} when it isn't known what was done; otherwise, nothing was done
 */
export type MakeTogether<Done, Call> = (calls: readonly Call[]) => Promise<(Done | null)[]>;

/** It isn't known whether the calls of a group were made. */
export class GroupLost extends Error {
  override readonly cause: Error;

  /** @param cause what a call that can't be repeated fails with */
  constructor(cause: Error) {
    super("It isn't known whether the calls of a group were made.");
    this.cause = cause;
  }
}

/** Calls of a group. */
const maxTogether = 32;
/** Calls under way or waiting to be made, in all and of one credential. */
const [maxAdmitted, maxAdmittedPerClient] = [128, maxTogether];
/** Groups under way. */
const maxGroups = 4;
/** Refusals of a group in succession, after which calls like them are made alone for some milliseconds. */
const [maxRefused, aloneForMs, maxKnown] = [3, 1_000, 10_000];
/** How often a call is put back because of one before it. */
const maxRounds = 3;

/** A call that has been admitted. */
interface Waiting<Call, Done> {
  call: Call;
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
 * finds nothing under way, or few calls, is made at once, alone. A call that its group leaves undone is made alone afterwards.
 *
 * Calls with one key are made in the order of their arrival: while one is under way, others with its key wait. When more
 * wait than a group can have, credentials take turns.
 */
export class GroupCommit<Done, Call extends GroupCall<Done> = GroupCall<Done>> {
  readonly #together: MakeTogether<Done, Call>;
  readonly #turns = new FairQueue({ limit: () => maxAdmitted, limitPerOwner: () => maxAdmittedPerClient });
  #count = 0;
  /** In the order of their arrival. */
  #waiting: Waiting<Call, Done>[] = [];
  /** How many calls with a key are under way, and how many of a credential with a key wait for a connection. */
  readonly #busy = new Map<string, number>();
  /** How many calls of a credential with a key were left undone in succession. */
  readonly #refused = new LRUCache<string, number>({ ...atMost(maxKnown), ttl: aloneForMs });
  readonly #underWay: UnderWay = { calls: 0, groups: 0, singles: 0 };
  readonly #patience = new Patience();
  #timer: NodeJS.Timeout | undefined;

  constructor(together: MakeTogether<Done, Call>) {
    this.#together = together;
  }

  /** Makes a call, alone or with others. */
  make(call: Call): Promise<Done> {
    return new Promise((resolve, reject) => {
      this.#turns.take(call.client, (refusal) => {
        if (refusal) return reject(refusal);
        const settled = new Promise<Done>((settle, fail) => {
          this.#waiting.push({ call, nth: this.#count++, since: performance.now(), rounds: 0, settle, fail });
        });
        resolve(settled.finally(() => this.#turns.end(call.client)));
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
      if (waitMs > 0 && !areFew && !this.#goesAlone(first)) {
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
  #next(): Waiting<Call, Done>[] {
    const passed = new Set<string>();
    const byClient = new Map<string, Waiting<Call, Done>[]>();
    let count = 0;
    for (const each of this.#waiting) {
      const { client, key } = each.call;
      if (passed.has(key) || this.#busy.has(key) || this.#busy.has(lineOf(each))) continue;
      if (this.#goesAlone(each)) {
        if (count === 0) return [each];
        passed.add(key);
        continue;
      }
      count++;
      const own = byClient.get(client);
      if (own) own.push(each);
      else byClient.set(client, [each]);
    }
    return inTurns([...byClient.values()], maxTogether).sort((a, b) => a.nth - b.nth);
  }

  #goesAlone(waiting: Waiting<Call, Done>): boolean {
    return waiting.rounds >= maxRounds || (this.#refused.get(lineOf(waiting)) ?? 0) >= maxRefused;
  }

  async #makeAlone(waiting: Waiting<Call, Done>): Promise<void> {
    const { call, settle, fail } = waiting;
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
      this.#note((held = call.key), 1);
    };
    try {
      settle(await call.alone(onBegin));
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

  async #makeTogether(group: readonly Waiting<Call, Done>[]): Promise<void> {
    const start = performance.now();
    this.#underWay.groups++;
    this.#underWay.calls += group.length;
    const keys = new Set(group.map(({ call }) => call.key));
    for (const key of keys) this.#note(key, 1);
    const undone = await this.#tryTogether(group);
    this.#underWay.groups--;
    this.#end(start, group.length);
    for (const key of keys) this.#note(key, -1);
    const firsts = new Set<string>();
    for (const each of undone) {
      const { key } = each.call;
      if (firsts.has(key)) {
        // Because of the first, or behind it
        each.rounds++;
        this.#waiting.push(each);
      } else {
        firsts.add(key);
        this.#refused.set(lineOf(each), (this.#refused.get(lineOf(each)) ?? 0) + 1);
        void this.#makeAlone(each);
      }
    }
    this.#waiting.sort((a, b) => a.nth - b.nth);
    this.#begin();
  }

  /** @returns those that were not done */
  async #tryTogether(group: readonly Waiting<Call, Done>[]): Promise<Waiting<Call, Done>[]> {
    try {
      const answers = await this.#together(group.map(({ call }) => call));
      return group.filter((waiting, index) => {
        const answer = answers[index] ?? null;
        if (answer === null) return true;
        this.#refused.delete(lineOf(waiting));
        waiting.settle(answer);
        return false;
      });
    } catch (error) {
      if (!(error instanceof GroupLost)) return [...group];
      return group.filter(({ call, fail }) => {
        if (!call.isRepeatable) fail(error.cause);
        return call.isRepeatable;
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

/** The calls of a credential with one key. */
const lineOf = ({ call: { client, key } }: Waiting<GroupCall<unknown>, never>): string => `${client} ${key}`;

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
