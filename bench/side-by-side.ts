import { say } from "../src/commands/terminal.ts";
import type { Cleanup } from "./cleanup.ts";
import { chooseContestants } from "./contestants/all.ts";
import { serviceContestant } from "./contestants/service.ts";
import { parametersOf } from "./data/parameters.ts";
import type { Cell, Player } from "./measure/rounds.ts";
import { playMatch, warmUp } from "./measure/rounds.ts";
import { verifyAnswers } from "./measure/verify.ts";
import type { BenchOptions } from "./options.ts";
import type { ReadName } from "./queries/reads.ts";
import { readQueries } from "./queries/reads.ts";
import { writeNames, writeQueries } from "./queries/writes.ts";
import { measuredCommit, runToRepeat } from "./report/both-runs.ts";
import { describeMachine } from "./report/machine.ts";
import { matchLine } from "./report/progress.ts";
import { reportFiles, resultsName } from "./report/side-by-side.ts";
import { readResult, writeResults } from "./report/write.ts";
import { deadlines } from "./schedule.ts";
import type { RunningContestants, Testbed } from "./testbed.ts";
import { openCluster, openTestbed, scaleFor, startContestants } from "./testbed.ts";
import { measureWrites } from "./side-by-side-writes.ts";

/** Most different requests that a quick run compares and sends. */
const quickVariants = 30;

/**
 * Measures all contestants in turns, and writes the report.
 *
 * @returns whether all responses were correct
 */
export async function sideBySide(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  const begin = performance.now();
  const commit = await measuredCommit();
  const all = await chooseContestants(options);
  const readers = all.filter(({ answers }) => options.reads.some((query) => answers.includes(query)));
  const cluster = await openCluster(cleanup);
  const testbed = await openTestbed(cluster, await scaleFor(cluster, options));
  say(`Starting ${readers.map(({ name }) => name).join(", ") || serviceContestant.name}`);
  const others = readers.filter((one) => one !== serviceContestant);
  const contestants = await startContestants(others, testbed, cleanup);
  const notes: string[] = [];
  const cells: Cell[] = [];
  const queries = options.reads.length + (options.writes ? writeNames.length : 0);
  const nextDeadline = deadlines(begin, options.budget, queries * options.connections.length);
  for (const query of options.reads) {
    const players = await compare(query, contestants, testbed, options, notes);
    const { postmaster } = testbed;
    await warmUp(players, { ...options, query, postmaster });
    for (const connections of options.connections) {
      const played = await playMatch(players, {
        ...options,
        query,
        connections,
        postmaster,
        deadline: nextDeadline(),
      });
      cells.push(...played);
      say(matchLine(played));
    }
  }
  for (const { child } of contestants.ready) await child.stop();
  if (options.writes) cells.push(...(await measureWrites(all, options, testbed, nextDeadline, cleanup)));

  const titles: Record<string, { title: string }> = { ...readQueries, ...writeQueries };
  const asked = [...new Set(cells.map(({ query }) => query))];
  const { scale } = testbed.database;
  const files = reportFiles({
    options,
    scale,
    commit,
    earlier: runToRepeat(await readResult(`${resultsName(options)}.json`), { commit, scale }),
    contestants: all,
    cells,
    titles: Object.fromEntries(asked.map((query) => [query, titles[query]!.title])),
    notes,
    machine: describeMachine(testbed.version),
    minutes: (performance.now() - begin) / 60_000,
  });
  say(`Written: ${(await writeResults(files)).join(", ")}`);
  return notes.length === 0 && cells.every(({ rounds }) => rounds.every(({ failures }) => failures === 0));
}

/** Returns the contestants with correct responses. Wrong responses of the others are reported. */
async function compare(
  query: ReadName,
  { ready, tokens }: RunningContestants,
  { database }: Testbed,
  { quick }: BenchOptions,
  notes: string[],
): Promise<Player[]> {
  const parameters = await parametersOf(database.ownerUrl, query, { most: quick ? quickVariants : Infinity });
  const token = await tokens();
  const judge = ready.find(({ contestant }) => contestant === serviceContestant)!;
  const { answers } = await verifyAnswers(judge, token, query, parameters, null);
  const players: Player[] = [];
  for (const one of ready) {
    const { name, answers: answered } = one.contestant;
    if (!answered.includes(query)) continue;
    try {
      const { requests } = await verifyAnswers(one, token, query, parameters, answers);
      players.push({ name, child: one.child, token: tokens, nextRequests: () => requests });
    } catch (error) {
      const note = `${name} is left out of ${query}: ${(error as Error).message}`;
      say(note);
      notes.push(note);
    }
  }
  return players;
}
