import { say } from "../src/commands/terminal.ts";
import { withClient } from "../src/postgres/client.ts";
import type { Cleanup } from "./cleanup.ts";
import type { DroppableDatabase } from "./data/database.ts";
import { fastSettings } from "./data/database.ts";
import { pruneOldEvents, vacuumAfterMovements } from "./data/upkeep.ts";
import type { PreparedRequest } from "./measure/load.ts";
import { load } from "./measure/load.ts";
import type { Player } from "./measure/rounds.ts";
import { playMatch, warmUp } from "./measure/rounds.ts";
import { statementCosts } from "./measure/statements.ts";
import { asker } from "./measure/verify.ts";
import type { BenchOptions } from "./options.ts";
import type { LedgerRead } from "./queries/ledger.ts";
import { ledgerReads } from "./queries/ledger.ts";
import { writeToService } from "./queries/service.ts";
import { writeQueries } from "./queries/writes.ts";
import { medianFigure } from "./report/figures.ts";
import type { Ledger, LedgerRow, LedgerSize } from "./report/ledger.ts";
import { ledgerFiles } from "./report/ledger.ts";
import { describeMachine } from "./report/machine.ts";
import { writeResults } from "./report/write.ts";
import type { RunningContestants, Testbed } from "./testbed.ts";
import { openCluster, startContestants, testbedOn } from "./testbed.ts";

/** Requested movements of the ledgers. Only whole copies of the shop's movements are added, so a ledger may have more. */
const sizes = { full: [34_000, 3_400_000, 30_000_000], quick: [34_000, 340_000] };
/** Number of different requests of each read. */
const variants = 100;
/** Requests for which pages and write-ahead log are counted together. */
const counted = 60;
/** Most events in the log; otherwise as many as movements. */
const mostEvents = 200_000;
const bookings = [
  { query: "W1", connections: 1 },
  { query: "W1", connections: 32 },
  { query: "W2", connections: 1 },
] as const;

/** The service on a ledger. */
interface Grown {
  database: DroppableDatabase;
  testbed: Testbed;
  contestants: RunningContestants;
  /** Its size before the measurement. */
  size: LedgerSize;
}

/**
 * Measures pages, bookings and maintenance with a short, a long and a very long ledger.
 *
 * @returns whether all responses were correct
 */
export async function growthOfLedger(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  const wanted = options.quick ? sizes.quick : sizes.full;
  const made = await makeLedgers(wanted, cleanup);
  const cluster = await openCluster(cleanup);
  const grown: Grown[] = [];
  for (const movements of wanted) {
    const database = await cluster.openLedger(movements, say);
    if (!options.keep) cleanup.add(() => database.drop());
    const size = await sizeOf(database, made.get(movements) ?? null);
    const testbed = await testbedOn(database);
    const contestants = await startContestants([], testbed, cleanup);
    grown.push({ database, testbed, contestants, size });
  }
  const reads = [];
  for (const [name, read] of Object.entries(ledgerReads)) {
    const requests = grown.map((one) => readsOf(one, read));
    reads.push(await rowOf(name, read.title, 1, grown, await Promise.all(requests), options));
  }
  const booked = [];
  for (const { query, connections } of bookings) {
    const { title, calls } = writeQueries[query];
    const requests = grown.map(async ({ database }) => (await calls(database, 4_000)).map(writeToService));
    const name = connections === 1 ? query : `${query}, ${connections} at once`;
    booked.push(await rowOf(name, title, connections, grown, await Promise.all(requests), options));
  }
  for (const { contestants } of grown) for (const { child } of contestants.ready) await child.stop();
  say("Upkeep");
  const ledgers: Ledger[] = [];
  for (const one of grown) ledgers.push(await upkeepOf(one));
  const machine = describeMachine(grown[0]!.testbed.version);
  const files = ledgerFiles({ ledgers, reads, bookings: booked, machine, options });
  say(`Written: ${(await writeResults(files)).join(", ")}`);
  return [...reads, ...booked].every(({ cells }) =>
    cells.every(({ rounds }) => rounds.every(({ failures }) => failures === 0)),
  );
}

/**
 * Creates missing ledgers.
 *
 * @returns the seconds that each of them took
 */
async function makeLedgers(wanted: readonly number[], cleanup: Cleanup): Promise<Map<number, number>> {
  const cluster = await openCluster(cleanup, fastSettings);
  const made = new Map<number, number>();
  const present = await cluster.filledLedgers();
  for (const movements of wanted.filter((size) => !present.includes(size))) {
    say(`Making a ledger of ${movements.toLocaleString("en-GB")} movements`);
    const begin = performance.now();
    await cluster.openLedger(movements, say);
    made.set(movements, (performance.now() - begin) / 1_000);
  }
  await cluster.stop();
  return made;
}

/** Makes the requests of a read. Responses are correct if they stay the same. */
async function readsOf(
  { database, contestants }: Grown,
  { parameters, ask }: LedgerRead,
): Promise<PreparedRequest[]> {
  const { rows } = await withClient(database.ownerUrl, (client) => client.query(parameters, [variants]));
  const { askText, close } = asker(contestants.ready[0]!.child, await contestants.tokens());
  const requests: PreparedRequest[] = [];
  for (const asked of rows.map(ask)) {
    const text = await askText(asked);
    if (text.includes('"errors"') || !text.includes('"node"')) throw new Error(`Not an answer: ${text}`);
    const isRight = (status: number, body: Buffer) => status === 200 && body.equals(text);
    requests.push({ path: asked.path, body: JSON.stringify(asked.body), isRight });
  }
  await close();
  return requests;
}

/** Measures all ledgers in turns, with the costs of their statements. */
async function rowOf(
  name: string,
  title: string,
  connections: number,
  grown: readonly Grown[],
  requests: readonly PreparedRequest[][],
  options: BenchOptions,
): Promise<LedgerRow> {
  const players: Player[] = grown.map(({ contestants, size }, index) => ({
    name: String(size.movements),
    child: contestants.ready[0]!.child,
    token: contestants.tokens,
    nextRequests: () => requests[index]!,
  }));
  const match = { ...options, query: name, postmaster: grown[0]!.testbed.postmaster };
  await warmUp(players, match);
  const cells = await playMatch(players, { ...match, connections });
  const costs = [];
  for (const [index, { database }] of grown.entries()) {
    const { child, token } = players[index]!;
    const some = {
      url: child.url,
      token: await token(),
      connections,
      requests: requests[index]!,
      count: counted,
    };
    costs.push(await statementCosts(database.adminUrl, () => load(some)));
  }
  const times = cells.map((cell) => `${medianFigure(cell, (round) => round.medianTime).toFixed(2)} ms`);
  say(`${name}: ${times.join(", ")}; pages ${costs.map(({ pages }) => pages.toFixed(0)).join(", ")}`);
  return {
    name,
    title,
    cells,
    costs,
  };
}

async function sizeOf(database: DroppableDatabase, seconds: number | null): Promise<LedgerSize> {
  const { movements, gigabytes } = await database.size();
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query<{ table: string; indexes: string; numbers: string }>(
      `select pg_table_size('ledger.stock_movement') as table, pg_indexes_size('ledger.stock_movement') as indexes,
         pg_total_relation_size('ledger.movement_sequence') as numbers`,
    ),
  );
  const each = (bytes: string) => Number(bytes) / movements;
  const { table, indexes, numbers } = rows[0]!;
  return {
    ...{ movements, gigabytes, seconds },
    ...{ rowBytes: each(table), indexBytes: each(indexes), numberBytes: each(numbers) },
  };
}

async function upkeepOf({ database, testbed, size }: Grown): Promise<Ledger> {
  const vacuum = await vacuumAfterMovements(database.adminUrl);
  const events = Math.min(size.movements, mostEvents);
  const pruning = await pruneOldEvents(database.adminUrl, events, testbed.postmaster);
  return { ...size, vacuum, pruning };
}
