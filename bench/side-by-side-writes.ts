import { readFile } from "node:fs/promises";
import { say } from "../src/commands/terminal.ts";
import { withClient } from "../src/postgres/client.ts";
import type { Cleanup } from "./cleanup.ts";
import type { Contestant } from "./contestants/contestant.ts";
import { startContestant } from "./contestants/start.ts";
import type { BenchDatabase } from "./data/database.ts";
import type { Testbed } from "./testbed.ts";
import { tokensFrom } from "./data/token.ts";
import type { PreparedRequest } from "./measure/load.ts";
import type { Cell } from "./measure/rounds.ts";
import { playMatch, warmUp } from "./measure/rounds.ts";
import type { BenchOptions } from "./options.ts";
import type { WriteName } from "./queries/writes.ts";
import { writeNames, writeQueries } from "./queries/writes.ts";
import { matchLine } from "./report/progress.ts";

/** Open orders of each round of each contestant. Fewer would be shipped before code and connections are warm. */
const ordersPerRound = { quick: 10, ordinary: 150 };

/** Longer than for reads: at some hundreds per second, it takes time until compilers have seen thousands of mutations. */
const warmUpSeconds = 5;

/**
 * Measures mutations on a copy of the database, to which LIMIT's own ledger is added.
 *
 * @param contestants the service first
 */
export async function measureWrites(
  contestants: readonly Contestant[],
  options: BenchOptions,
  { database, signingKey, credential, postmaster }: Testbed,
  nextDeadline: () => number,
  cleanup: Cleanup,
): Promise<Cell[]> {
  say("Copying the database, to write to the copy");
  const copy = await database.copy();
  cleanup.add(() => copy.drop());
  const deals = new Map<WriteName, Assignment[]>();
  for (const query of writeNames) {
    say(`Preparing ${query}, ${writeQueries[query].title}`);
    const writers = contestants.filter(({ answers }) => answers.includes(query));
    deals.set(query, await assignCalls(query, copy, writers, options));
  }
  await addBareLedger(copy);
  await dropReceivers(copy);
  // Otherwise autovacuum runs during the measurement
  await withClient(copy.adminUrl, (client) => client.query("vacuum analyze"));
  const writers = contestants.filter(({ answers }) => writeNames.some((query) => answers.includes(query)));
  const children = await Promise.all(
    writers.map((contestant) => startContestant(contestant, { database: copy, signingKey })),
  );
  for (const child of children) cleanup.add(() => child.stop());
  const token = tokensFrom(children[0]!.url, credential);
  const cells: Cell[] = [];
  for (const query of writeNames) {
    const { once } = writeQueries[query];
    const players = deals.get(query)!.map(({ writer, nextRequests }) => ({
      name: writer.name,
      child: children[writers.indexOf(writer)]!,
      token,
      nextRequests,
    }));
    const seconds = Math.max(options.seconds, options.quick ? 0 : warmUpSeconds);
    await warmUp(players, { ...options, seconds, query, once, postmaster });
    for (const connections of options.connections) {
      const played = await playMatch(players, {
        ...options,
        query,
        connections,
        once,
        postmaster,
        deadline: nextDeadline(),
      });
      cells.push(...played);
      say(matchLine(played));
    }
  }
  for (const child of children) await child.stop();
  await copy.drop();
  return cells;
}

/** Adds LIMIT's ledger, after all other data that the requests need. */
async function addBareLedger({ adminUrl }: BenchDatabase): Promise<void> {
  const text = await readFile(new URL("limit/ledger.sql", import.meta.url), "utf8");
  await withClient(adminUrl, (client) => client.query(text));
}

/** Deletes webhook subscriptions: the demonstration shop's receivers don't exist, and LIMIT has none. Events are still numbered. */
async function dropReceivers({ adminUrl }: BenchDatabase): Promise<void> {
  await withClient(adminUrl, (client) =>
    client.query("update events.webhook_subscription set enabled = false"),
  );
}

/** A contestant, and the requests of its next round. */
interface Assignment {
  writer: Contestant;
  nextRequests(): readonly PreparedRequest[];
}

/** Assigns calls to contestants. A call that can be made only once belongs to one round of one contestant. */
async function assignCalls(
  query: WriteName,
  database: BenchDatabase,
  writers: readonly Contestant[],
  { quick, rounds, connections }: BenchOptions,
): Promise<Assignment[]> {
  const { once, calls: prepare } = writeQueries[query];
  const shares = (rounds * connections.length + 1) * writers.length;
  const calls = await prepare(database, shares * ordersPerRound[quick ? "quick" : "ordinary"]);
  const each = Math.floor(calls.length / shares);
  if (once && each < 1) throw new Error(`There are only ${calls.length} calls for all rounds.`);
  return writers.map((writer) => {
    const requests = once ? null : calls.map(writer.write!);
    return { writer, nextRequests: () => requests ?? calls.splice(0, each).map(writer.write!) };
  });
}
