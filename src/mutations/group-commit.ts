import { FairQueue } from "../lib/fair-queue.ts";

/** A call that may join a group. */
export interface GroupCall<Done> {
  /** The credential that sends it. */
  client: string;
  /** Calls with the same key, such as a product's ID, run in the order of their arrival. */
  key: string;
  /** Whether it can be repeated when it isn't known whether it was done. */
  isRepeatable: boolean;
  /** Runs the call alone. @param onBegin called just before it is sent */
  runAlone(onBegin: () => void): Promise<Done>;
}

/**
 * Runs a group of calls as one statement. Returns the results in the order of the calls; null for a call that was not done.
 *
 * @throws {GroupLost} when it isn't known what was done; after any other error, nothing was done
 */
export type SendGroup<Done, Call> = (calls: readonly Call[]) => Promise<(Done | null)[]>;

/** Thrown when it isn't known whether the calls of a group were done. */
export class GroupLost extends Error {
  override readonly cause: Error;

  /** @param cause the error for calls that can't be repeated */
  constructor(cause: Error) {
    super("It isn't known whether the calls of a group were done.");
    this.cause = cause;
  }
}

/** The most calls in a group. */
const maxGroupSize = 32;
/** The most calls that run or wait here, in all and of one credential. */
const [maxAdmitted, maxAdmittedPerClient] = [128, maxGroupSize];
/** The most groups that run at a time. */
const maxGroups = 4;
/**
 * Up to this many calls cost Postgres as much in a group as alone, so they don't wait for each other. They do if recent groups
 * were larger: the clients of those are about to call again.
 */
const lowLoad = { calls: 3, usualCount: 2 };
/**
 * A second group begins at once if this many calls wait, and no fewer than are running. One connection uses one core of
 * Postgres, and none while its commit is written.
 */
const minParallelGroup = 8;
/** Bounds in milliseconds of the time that a call waits for running calls. In between, it is twice the usual time of a group. */
const [minWaitMs, maxWaitMs] = [3, 50];
/**
 * Milliseconds that a call waits for others when nothing runs but recent groups were large: their clients are about to call
 * again. The second number is how long without calls until no group counts as recent.
 */
const [gatherMs, idleAfterMs] = [5, 50];

/** A call that has been admitted. */
interface Waiting<Call, Done> {
  call: Call;
  /** Its number in the order of arrival. */
  arrival: number;
  since: number;
  /** Whether it has to run alone, because its group could not do it. */
  mustRunAlone: boolean;
  settle(answer: Done): void;
  fail(error: Error): void;
}

/**
 * Group commit: calls that arrive while others run become a group, with one statement and one commit. If nothing runs, or only
 * few calls, a call runs alone and at once. A call that its group could not do runs alone afterwards.
 *
 * Calls with the same key run in the order of their arrival: while one runs, the others wait. When more calls wait than fit
 * into a group, credentials take turns.
 */
export class GroupCommit<Done, Call extends GroupCall<Done> = GroupCall<Done>> {
  readonly #sendGroup: SendGroup<Done, Call>;
  readonly #queue = new FairQueue({ limit: () => maxAdmitted, limitPerOwner: () => maxAdmittedPerClient });
  #arrivals = 0;
  /** Calls that wait, in the order of their arrival. */
  #waiting: Waiting<Call, Done>[] = [];
  /** Counts of running calls by key, and of calls by credential and key that run or wait for a connection. */
  readonly #busyCounts = new Map<string, number>();
  /** Counts of what runs: statements (each with one call or a group), groups, and calls. */
  readonly #underWay = { statements: 0, groups: 0, calls: 0 };
  /** The usual number of calls per statement, of late. */
  #usualCount = 1;
  /** The usual time of a group in milliseconds, of late. */
  #usualMs = minWaitMs;
  #begunAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(sendGroup: SendGroup<Done, Call>) {
    this.#sendGroup = sendGroup;
  }

  /** Runs a call, alone or in a group. */
  run(call: Call): Promise<Done> {
    return new Promise((resolve, reject) => {
      this.#queue.take(call.client, (refusal) => {
        if (refusal) return reject(refusal);
        const settled = new Promise<Done>((settle, fail) => {
          const since = performance.now();
          this.#waiting.push({ call, arrival: this.#arrivals++, since, mustRunAlone: false, settle, fail });
        });
        resolve(settled.finally(() => this.#queue.end(call.client)));
        this.#begin();
      });
    });
  }

  /** Starts all calls and groups that can start now. */
  #begin(): void {
    clearTimeout(this.#timer);
    for (;;) {
      const { statements, groups, calls } = this.#underWay;
      const now = performance.now();
      if (statements === 0 && now - this.#begunAt > idleAfterMs) this.#usualCount = 1;
      const isLowLoad =
        this.#waiting.length + calls <= lowLoad.calls && this.#usualCount <= lowLoad.usualCount;
      const next = this.#next(isLowLoad ? 1 : maxGroupSize);
      const [first] = next;
      if (!first || (next.length > 1 && groups >= maxGroups)) return;
      const startsNow = isLowLoad || first.mustRunAlone || this.#isLargeEnough(next.length);
      const waitLimitMs = statements > 0 ? this.#waitLimitMs() : gatherMs;
      const waitMs = startsNow ? 0 : first.since + waitLimitMs - now;
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#begin(), waitMs);
        return;
      }
      this.#usualCount += (next.length - this.#usualCount) / 4;
      this.#begunAt = now;
      const chosen = new Set(next);
      this.#waiting = this.#waiting.filter((each) => !chosen.has(each));
      if (next.length === 1) void this.#runAlone(first);
      else void this.#runGroup(next);
    }
  }

  /** Returns how long a call waits for running calls. If these take much longer than usual they hang, and others go on. */
  #waitLimitMs(): number {
    const usualMs = Math.max(minWaitMs, 2 * this.#usualMs) * Math.max(1, this.#underWay.groups);
    return Math.min(maxWaitMs, usualMs);
  }

  /** Whether a group of this size starts at once: it is about as large as usual, or as the one that runs. */
  #isLargeEnough(count: number): boolean {
    const { statements, calls } = this.#underWay;
    if (statements === 0) return 2 * count >= this.#usualCount;
    return statements === 1 && count >= Math.max(minParallelGroup, calls);
  }

  /** Returns the calls to start next, in the order of arrival: a group of at most `size`, or one call. */
  #next(size: number): Waiting<Call, Done>[] {
    const blocked = new Set<string>();
    const counts = new Map<string, number>();
    const ready: { each: Waiting<Call, Done>; round: number }[] = [];
    for (const each of this.#waiting) {
      const { client, key } = each.call;
      if (blocked.has(key) || this.#busyCounts.has(key) || this.#busyCounts.has(clientKey(each))) continue;
      if (each.mustRunAlone) {
        if (ready.length === 0) return [each];
        blocked.add(key);
        continue;
      }
      const round = counts.get(client) ?? 0;
      counts.set(client, round + 1);
      ready.push({ each, round });
    }
    const chosen = ready.sort((a, b) => a.round - b.round).slice(0, size);
    return chosen.map(({ each }) => each).sort(byArrival);
  }

  async #runAlone(waiting: Waiting<Call, Done>): Promise<void> {
    const { call, settle, fail } = waiting;
    // Until it has a connection, only its credential's calls with this key wait for it. After a failed group, all with this key do
    const busyKey = waiting.mustRunAlone ? call.key : clientKey(waiting);
    let isSent = false;
    this.#countKey(busyKey, 1);
    const onBegin = () => {
      if (isSent) return;
      isSent = true;
      this.#countStatement([waiting], 1);
    };
    try {
      settle(await call.runAlone(onBegin));
    } catch (error) {
      fail(error as Error);
    }
    this.#countKey(busyKey, -1);
    if (isSent) this.#countStatement([waiting], -1);
    this.#begin();
  }

  async #runGroup(group: readonly Waiting<Call, Done>[]): Promise<void> {
    this.#underWay.groups++;
    this.#countStatement(group, 1);
    const begunAt = performance.now();
    const undone = await this.#trySend(group);
    this.#usualMs += (performance.now() - begunAt - this.#usualMs) / 10;
    this.#underWay.groups--;
    this.#countStatement(group, -1);
    // Only the first of each key runs alone; the others were skipped because of it
    const keys = new Set<string>();
    for (const each of undone) {
      each.mustRunAlone = !keys.has(each.call.key);
      keys.add(each.call.key);
    }
    this.#waiting = [...undone, ...this.#waiting].sort(byArrival);
    this.#begin();
  }

  /** Runs a group. @returns the calls that were not done */
  async #trySend(group: readonly Waiting<Call, Done>[]): Promise<Waiting<Call, Done>[]> {
    try {
      const answers = await this.#sendGroup(group.map(({ call }) => call));
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

  /** Counts a statement with these calls, when it begins or ends. */
  #countStatement(waiting: readonly Waiting<Call, Done>[], change: 1 | -1): void {
    this.#underWay.statements += change;
    this.#underWay.calls += change * waiting.length;
    for (const { call } of waiting) this.#countKey(call.key, change);
  }

  #countKey(key: string, change: 1 | -1): void {
    const count = (this.#busyCounts.get(key) ?? 0) + change;
    if (count > 0) this.#busyCounts.set(key, count);
    else this.#busyCounts.delete(key);
  }
}

/** Returns the key of a credential's calls with one key. */
const clientKey = ({ call: { client, key } }: Waiting<GroupCall<unknown>, never>): string =>
  `${client} ${key}`;

const byArrival = (a: { arrival: number }, b: { arrival: number }): number => a.arrival - b.arrival;
