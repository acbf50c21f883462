import type { Child } from "./child.ts";
import type { PreparedRequest } from "./load.ts";
import { load } from "./load.ts";
import { postgresCpu } from "./postgres-cpu.ts";
import { median, quantile } from "./statistics.ts";

/** Result of one contestant in one round. Times are in milliseconds. */
export interface Round {
  perSecond: number;
  medianTime: number;
  /** p99: 99 of 100 requests took no longer. */
  slowTime: number;
  /** Processor time of the contestant's process, per request. */
  nodeCpu: number;
  /** Processor time of Postgres, per request; null if unknown. */
  postgresCpu: number | null;
  requests: number;
  failures: number;
}

/** All rounds of one contestant with one query and number of connections. */
export interface Cell {
  contestant: string;
  query: string;
  connections: number;
  rounds: Round[];
}

/** A contestant in a match. */
export interface Player {
  name: string;
  child: Child;
  /** Returns an access token of the service. */
  token: () => Promise<string>;
  /** The requests of its next round. */
  nextRequests(): readonly PreparedRequest[];
}

export interface MatchOptions {
  query: string;
  connections: number;
  rounds: number;
  seconds: number;
  /** Whether each request of a round must be sent once. */
  once?: boolean;
  postmaster: number;
  /** Time, by `performance.now()`, after which no round begins, except the first. */
  deadline?: number;
}

/** How contestants are warmed up: compilers need some hundreds of calls. */
const warming = { connections: 32, leastSeconds: 0.5 };

/**
 * Warms up each contestant with a query, also with each number of connections that will be measured: a single connection may
 * use another code path.
 */
export async function warmUp(
  players: readonly Player[],
  {
    seconds,
    connections: counted,
    ...options
  }: Omit<MatchOptions, "connections" | "rounds"> & { connections: number[] },
): Promise<void> {
  const { connections: many, leastSeconds } = warming;
  const each = options.once ? [many] : new Set([many, ...counted]);
  for (const connections of each) {
    const match = { ...options, connections, seconds: Math.max(seconds, leastSeconds), rounds: 1 };
    for (const player of players) await playRound(player, match);
  }
}

/**
 * Measures contestants with one query in turns. The order rotates, so that none always follows the same one.
 */
export async function playMatch(players: readonly Player[], options: MatchOptions): Promise<Cell[]> {
  const { query, connections, rounds, deadline = Infinity } = options;
  const cells = players.map(({ name }) => ({ contestant: name, query, connections, rounds: [] as Round[] }));
  for (let round = 0; round < rounds; round++) {
    if (round > 0 && performance.now() > deadline) break;
    for (let turn = 0; turn < players.length; turn++) {
      const index = (round + turn) % players.length;
      cells[index]!.rounds.push(await playRound(players[index]!, options));
    }
  }
  return cells;
}

async function playRound(
  { child, token, nextRequests }: Player,
  { connections, seconds, once, postmaster }: MatchOptions,
): Promise<Round> {
  const requests = nextRequests();
  const [before, postgresBefore] = [await child.usage(), await postgresCpu(postmaster)];
  const count = once ? requests.length : undefined;
  const ofCaller = child.token ?? (await token());
  const result = await load({ url: child.url, token: ofCaller, connections, requests, seconds, count });
  const [after, postgresAfter] = [await child.usage(), await postgresCpu(postmaster)];
  const perRequest = (microseconds: number) => microseconds / 1000 / result.requests;
  return {
    perSecond: result.requests / result.seconds,
    medianTime: median(result.latencies),
    slowTime: quantile(result.latencies, 0.99),
    nodeCpu: perRequest(after.cpu - before.cpu),
    postgresCpu:
      postgresBefore === null || postgresAfter === null ? null : perRequest(postgresAfter - postgresBefore),
    requests: result.requests,
    failures: result.failures,
  };
}
