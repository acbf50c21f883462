import { say } from "../src/commands/terminal.ts";
import type { Cleanup } from "./cleanup.ts";
import { parametersOf } from "./data/parameters.ts";
import type { Cell, Player } from "./measure/rounds.ts";
import { playMatch, warmUp } from "./measure/rounds.ts";
import { verifyAnswers } from "./measure/verify.ts";
import type { BenchOptions } from "./options.ts";
import type { ReadName } from "./queries/reads.ts";
import { medianFigure } from "./report/figures.ts";
import type { GrowthRow } from "./report/growth.ts";
import { growthFiles } from "./report/growth.ts";
import { describeMachine } from "./report/machine.ts";
import { writeResults } from "./report/write.ts";
import type { RunningContestants, Testbed } from "./testbed.ts";
import { openCluster, openTestbed, startContestants } from "./testbed.ts";

const scales = [10, 100, 1_000];
/** Position of a page in the list of all movements. */
const depths = [0, 0.5, 1];
const quickVariants = 20;

/** The service on the data of one scale. */
interface Grown {
  testbed: Testbed;
  contestants: RunningContestants;
}

/**
 * Measures the time of pages with little, more and much data, and at different positions in a list.
 *
 * @returns whether all responses were correct
 */
export async function growth(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  const cluster = await openCluster(cleanup);
  const filled = await cluster.filledScales();
  const grown: Grown[] = [];
  for (const scale of options.quick ? scales.filter((one) => filled.includes(one)) : scales) {
    const testbed = await openTestbed(cluster, scale);
    grown.push({ testbed, contestants: await startContestants([], testbed, cleanup) });
  }
  const nameOf = ({ testbed }: Grown) => `scale ${testbed.database.scale}`;
  const bySize: GrowthRow[] = [];
  for (const query of options.reads) {
    const players = grown.map((one) => playerOf(nameOf(one), one, query, options));
    bySize.push(await rowOf(query, await Promise.all(players), query, options));
  }
  const byDepth: GrowthRow[] = [];
  for (const one of options.reads.includes("E") ? grown : []) {
    const players = depths.map((depth) => playerOf(`at ${depth * 100} %`, one, "E", options, depth));
    byDepth.push(await rowOf(nameOf(one), await Promise.all(players), "E", options));
  }
  for (const { contestants } of grown) for (const { child } of contestants.ready) await child.stop();
  const files = growthFiles({
    bySize,
    byDepth,
    sizes: await Promise.all(grown.map(({ testbed: { database } }) => database.size())),
    machine: describeMachine(grown[0]!.testbed.version),
    options,
  });
  say(`Written: ${(await writeResults(files)).join(", ")}`);
  return [...bySize, ...byDepth].every(({ failures }) => failures === 0);
}

async function playerOf(
  name: string,
  { testbed, contestants }: Grown,
  query: ReadName,
  { quick }: BenchOptions,
  depthShare?: number,
): Promise<Player> {
  const most = quick ? quickVariants : undefined;
  const parameters = await parametersOf(testbed.database.ownerUrl, query, { most, depthShare });
  const [ready] = contestants.ready;
  const { requests } = await verifyAnswers(ready!, await contestants.tokens(), query, parameters, null);
  return { name, child: ready!.child, token: contestants.tokens, nextRequests: () => requests };
}

/** Measures contestants of different size or depth in turns, with one request at a time. */
async function rowOf(
  title: string,
  players: readonly Player[],
  query: ReadName,
  options: BenchOptions,
): Promise<GrowthRow> {
  const match = { ...options, query, postmaster: 0 };
  await warmUp(players, match);
  const cells: Cell[] = await playMatch(players, { ...match, connections: 1 });
  const times = cells.map((cell) => ({
    name: cell.contestant,
    milliseconds: medianFigure(cell, (round) => round.medianTime),
  }));
  say(
    `${title}: ${times.map(({ name, milliseconds }) => `${name} ${milliseconds.toFixed(2)} ms`).join(", ")}`,
  );
  const failures = cells.flatMap(({ rounds }) => rounds).reduce((sum, round) => sum + round.failures, 0);
  return { title, times, failures };
}
