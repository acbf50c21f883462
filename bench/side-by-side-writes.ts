import { readFile } from "node:fs/promises";
import { say } from "../src/commands/terminal.ts";
import { withClient } from "../src/database/client.ts";
import type { Cleanup } from "./cleanup.ts";
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

/** Those that take part. */
export const writers = [serviceContestant, limit, sameFunction];

/** Most open orders that are prepared. */
const maxOrders = { quick: 320, ordinary: 4_000 };

/** At some hundreds a second, mutations need longer than reads until compilers have seen thousands of them. */
const warmUpSeconds = 5;

/** Measures mutations on a copy of the database, which LIMIT's own ledger is added to. */
export async function measureWrites(
  options: BenchOptions,
  { database, signingKey, credential, postmaster }: Testbed,
  nextDeadline: () => number,
  cleanup: Cleanup,
): Promise<Cell[]> {
  say("Copying the database, to write to the copy");
  const copy = await database.copy();
  cleanup.add(() => copy.drop());
  const count = options.quick ? maxOrders.quick : maxOrders.ordinary;
  const requests = new Map<string, Record<Writer, { nextRequests: Player["nextRequests"] }>>();
  for (const [name, query] of Object.entries(writeQueries)) {
    say(`Preparing ${name}, ${query.title}`);
    requests.set(name, await dealOut(query, copy, count, options));
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
      ...requests.get(query)![name as Writer],
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

/** The requests of each writer; those that can be sent only once belong to one round of one writer. */
async function dealOut(
  query: WriteQuery,
  database: BenchDatabase,
  count: number,
  { rounds, connections }: BenchOptions,
): Promise<Record<Writer, { nextRequests: Player["nextRequests"] }>> {
  const prepared = await query.prepare(database, count);
  const each = Math.floor(prepared.length / ((rounds * connections.length + 1) * writers.length));
  if (query.once && each < 1) throw new Error(`There are only ${prepared.length} requests for all rounds.`);
  const of = (writer: Writer) => ({
    nextRequests: () => (query.once ? prepared.splice(0, each) : prepared).map((request) => request[writer]),
  });
  return { service: of("service"), limit: of("limit"), "same-function": of("same-function") };
}
