import { FairQueue } from "../lib/fair-queue.ts";

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
/**
 * So many calls, or fewer, cost Postgres as much together as alone, so they don't wait for each other, unless more came together of
 * late: their clients are about to call again.
 */
const few = { calls: 3, usualCount: 2 };
/**
 * With so many waiting, and at least as many as are under way, a second group begins at once: one connection keeps one core of
 * Postgres busy, and none while its commit is written.
 */
const leastBeside = 8;
/** Milliseconds that a call waits for what is under way, from the least to the most: twice what groups usually take. */
const [leastPatienceMs, mostPatienceMs] = [3, 50];
/**
 * Milliseconds that a call waits for others when nothing is under way, but groups were large until just now: their clients are
 * about to call again. After some milliseconds without calls that is over.
 */
const [gatherMs, pauseMs] = [5, 50];

/** A call that has been admitted. */
interface Waiting<Call, Done> {
  call: Call;
  /** Its place in the order of arrival. */
  nth: number;
  since: number;
  /** Whether a group has left it undone. */
  isOdd: boolean;
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
  /** How many calls with a key are under way, and how many of a credential with a key wait for a connection or are under way. */
  readonly #busy = new Map<string, number>();
  /** What is under way: statements, which make one call or a group, groups of them, and calls in all. */
  readonly #underWay = { statements: 0, groups: 0, calls: 0 };
  /** How many calls were begun together of late, and when the last were. */
  #usualCount = 1;
  /** Milliseconds that groups take, of late. */
  #usualMs = leastPatienceMs;
  #begunAt = -Infinity;
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
          const since = performance.now();
          this.#waiting.push({ call, nth: this.#count++, since, isOdd: false, settle, fail });
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
      const { statements, groups, calls } = this.#underWay;
      const now = performance.now();
      if (statements === 0 && now - this.#begunAt > pauseMs) this.#usualCount = 1;
      const areFew = this.#waiting.length + calls <= few.calls && this.#usualCount <= few.usualCount;
      const next = this.#next(areFew ? 1 : maxTogether);
      const [first] = next;
      if (!first || (next.length > 1 && groups >= maxGroups)) return;
      const isAtOnce = areFew || first.isOdd || this.#areEnough(next.length);
      const patienceMs = statements > 0 ? this.#patienceMs() : gatherMs;
      const waitMs = isAtOnce ? 0 : first.since + patienceMs - now;
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#begin(), waitMs);
        return;
      }
      this.#usualCount += (next.length - this.#usualCount) / 4;
      this.#begunAt = now;
      const chosen = new Set(next);
      this.#waiting = this.#waiting.filter((each) => !chosen.has(each));
      if (next.length === 1) void this.#makeAlone(first);
      else void this.#makeTogether(next);
    }
  }

  /** How long a call waits for what is under way: longer than usual means that it hangs, and others go on. */
  #patienceMs(): number {
    const usualMs = Math.max(leastPatienceMs, 2 * this.#usualMs) * Math.max(1, this.#underWay.groups);
    return Math.min(mostPatienceMs, usualMs);
  }

  /** Whether so many calls begin at once: about as many as usual, or as are under way in one statement. */
  #areEnough(count: number): boolean {
    const { statements, calls } = this.#underWay;
    if (statements === 0) return 2 * count >= this.#usualCount;
    return statements === 1 && count >= Math.max(leastBeside, calls);
  }

  /** What would be made now, in the order of arrival: a group of at most so many, or one call. */
  #next(size: number): Waiting<Call, Done>[] {
    const passed = new Set<string>();
    const counts = new Map<string, number>();
    const ready: { each: Waiting<Call, Done>; round: number }[] = [];
    for (const each of this.#waiting) {
      const { client, key } = each.call;
      if (passed.has(key) || this.#busy.has(key) || this.#busy.has(lineOf(each))) continue;
      if (each.isOdd) {
        if (ready.length === 0) return [each];
        passed.add(key);
        continue;
      }
      const round = counts.get(client) ?? 0;
      counts.set(client, round + 1);
      ready.push({ each, round });
    }
    const inTurns = ready.sort((a, b) => a.round - b.round).slice(0, size);
    return inTurns.map(({ each }) => each).sort(byArrival);
  }

  async #makeAlone(waiting: Waiting<Call, Done>): Promise<void> {
    const { call, settle, fail } = waiting;
    // Until it has a connection only the credential's own calls wait for it; but all of its key, if it was left undone
    const line = waiting.isOdd ? call.key : lineOf(waiting);
    let isSent = false;
    this.#note(line, 1);
    const onBegin = () => {
      if (isSent) return;
      isSent = true;
      this.#noteStatement([waiting], 1);
    };
    try {
      settle(await call.alone(onBegin));
    } catch (error) {
      fail(error as Error);
    }
    this.#note(line, -1);
    if (isSent) this.#noteStatement([waiting], -1);
    this.#begin();
  }

  async #makeTogether(group: readonly Waiting<Call, Done>[]): Promise<void> {
    this.#underWay.groups++;
    this.#noteStatement(group, 1);
    const begunAt = performance.now();
    const undone = await this.#tryTogether(group);
    this.#usualMs += (performance.now() - begunAt - this.#usualMs) / 10;
    this.#underWay.groups--;
    this.#noteStatement(group, -1);
    // Those behind the first of a key were only left undone for it
    const keys = new Set<string>();
    for (const each of undone) {
      each.isOdd = !keys.has(each.call.key);
      keys.add(each.call.key);
    }
    this.#waiting = [...undone, ...this.#waiting].sort(byArrival);
    this.#begin();
  }

  /** @returns those that were not done */
  async #tryTogether(group: readonly Waiting<Call, Done>[]): Promise<Waiting<Call, Done>[]> {
    try {
      const answers = await this.#together(group.map(({ call }) => call));
      return group.filter(({ settle }, index) => {
        const answer = answers[index] ?? null;
        if (answer !== null) settle(answer);
        return answer === null;
      });
    } catch (error) {
      if (!(error instanceof GroupLost)) return [...group];
      return group.filter(({ call, fail }) => {
        if (!call.isRepeatable) fail(error.cause);
        return call.isRepeatable;
      });
    }
  }

  /** Notes that a statement with these calls begins or ends. */
  #noteStatement(made: readonly Waiting<Call, Done>[], change: 1 | -1): void {
    this.#underWay.statements += change;
    this.#underWay.calls += change * made.length;
    for (const { call } of made) this.#note(call.key, change);
  }

  #note(key: string, change: 1 | -1): void {
    const count = (this.#busy.get(key) ?? 0) + change;
    if (count > 0) this.#busy.set(key, count);
    else this.#busy.delete(key);
  }
}

/** The calls of a credential with one key. */
const lineOf = ({ call: { client, key } }: Waiting<GroupCall<unknown>, never>): string => `${client} ${key}`;

const byArrival = (a: { nth: number }, b: { nth: number }): number => a.nth - b.nth;
