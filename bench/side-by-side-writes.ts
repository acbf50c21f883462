import { readFile } from "node:fs/promises";
import { say } from "../src/commands/terminal.ts";
import { withClient } from "../src/postgres/client.ts";
import type { Cleanup } from "./cleanup.ts";
import { ablatedServices } from "./contestants/ablations.ts";
import type { Contestant } from "./contestants/contestant.ts";
import { limit, sameFunction } from "./contestants/limit.ts";
import { serviceContestant } from "./contestants/service.ts";
import { startContestant } from "./contestants/start.ts";
import type { BenchDatabase } from "./data/database.ts";
import type { Testbed } from "./testbed.ts";
import { tokensFrom } from "./data/token.ts";
import type { Cell, Player } from "./measure/rounds.ts";
import { playMatch, warmUp } from "./measure/rounds.ts";
import type { BenchOptions } from "./options.ts";
import type { WriteQuery, Writer } from "./queries/writes.ts";
import { writeQueries } from "./queries/writes.ts";
import { matchLine } from "./report/progress.ts";

/** Those that take part beside the services that were requested. */
const ownWriters = [serviceContestant, limit, sameFunction];

/** Those that take part when others are requested. */
export const writersAmong = (others: readonly Contestant[]): Contestant[] => [
  ...ownWriters,
  ...ablatedServices.filter((one) => one.writes && others.includes(one)),
];

/** Open orders of each round of each writer: fewer are over before code and connections are warm. */
const ordersPerRound = { quick: 10, ordinary: 150 };

/** At some hundreds a second, mutations need longer than reads until compilers have seen thousands of them. */
const warmUpSeconds = 5;

/** Measures mutations on a copy of the database, which LIMIT's own ledger is added to. */
export async function measureWrites(
  writers: readonly Contestant[],
  options: BenchOptions,
  { database, signingKey, credential, postmaster }: Testbed,
  nextDeadline: () => number,
  cleanup: Cleanup,
): Promise<Cell[]> {
  say("Copying the database, to write to the copy");
  const copy = await database.copy();
  cleanup.add(() => copy.drop());
  const { quick, rounds, connections } = options;
  const count = (rounds * connections.length + 1) * writers.length * ordersPerRound[quick ? "quick" : "ordinary"];
  const requests = new Map<string, RequestsOf>();
  for (const [name, query] of Object.entries(writeQueries)) {
    say(`Preparing ${name}, ${query.title}`);
    requests.set(name, await dealOut(query, copy, count, writers, options));
  }
  await addBareLedger(copy);
  await dropReceivers(copy);
  const children = await Promise.all(
    writers.map((contestant) => startContestant(contestant, { database: copy, signingKey })),
  );
  for (const child of children) cleanup.add(() => child.stop());
  const token = tokensFrom(children[0]!.url, credential);
  const cells: Cell[] = [];
  for (const [query, { once }] of Object.entries(writeQueries)) {
    const players = writers.map(({ name }, index) => ({
      name,
      child: children[index]!,
      token,
      nextRequests: requests.get(query)!(name),
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

/** Adds LIMIT's ledger, after everything else that the requests need is there. */
async function addBareLedger({ adminUrl }: BenchDatabase): Promise<void> {
  const text = await readFile(new URL("limit/ledger.sql", import.meta.url), "utf8");
  await withClient(adminUrl, (client) => client.query(text));
}

/** Events are numbered as usual, but not sent: the receivers of the demonstration shop don't exist, and LIMIT has none. */
async function dropReceivers({ adminUrl }: BenchDatabase): Promise<void> {
  await withClient(adminUrl, (client) =>
    client.query("update events.webhook_subscription set enabled = false"),
  );
}

/** The requests of a writer's next round. */
type RequestsOf = (writer: string) => ReturnType<Player["nextRequests"]>;

/** Those that can be sent only once belong to one round of one writer. */
async function dealOut(
  query: WriteQuery,
  database: BenchDatabase,
  count: number,
  writers: readonly Contestant[],
  { rounds, connections }: BenchOptions,
): Promise<RequestsOf> {
  const prepared = await query.prepare(database, count);
  const each = Math.floor(prepared.length / ((rounds * connections.length + 1) * writers.length));
  if (query.once && each < 1) throw new Error(`There are only ${prepared.length} requests for all rounds.`);
  return (name) => {
    const form = ownWriters.some((own) => own.name === name) ? (name as Writer) : "service";
    return (query.once ? prepared.splice(0, each) : prepared).map((request) => request[form]);
  };
}
