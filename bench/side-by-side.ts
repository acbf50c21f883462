import { say } from "../src/commands/terminal.ts";
import type { Closing } from "./closing.ts";
import { othersOf } from "./contestants/all.ts";
import { service } from "./contestants/service.ts";
import { parametersOf } from "./data/parameters.ts";
import type { Cell, Player } from "./measure/rounds.ts";
import { playMatch, warmUp } from "./measure/rounds.ts";
import { verify } from "./measure/verify.ts";
import type { Options } from "./options.ts";
import type { ReadName } from "./queries/reads.ts";
import { readQueries } from "./queries/reads.ts";
import { writeQueries } from "./queries/writes.ts";
import { describeMachine } from "./report/machine.ts";
import { lineOf } from "./report/progress.ts";
import { reportFiles } from "./report/side-by-side.ts";
import { writeResults } from "./report/write.ts";
import { deadlines } from "./schedule.ts";
import type { Field, Setting } from "./setting.ts";
import { openCluster, openSetting, scaleFor, startField } from "./setting.ts";
import { measureWrites } from "./side-by-side-writes.ts";

/** Most different requests that a quick run compares and sends. */
const quickVariants = 30;

/**
 * Measures all contestants, in turns, and writes the report.
 *
 * @returns whether all answers were right
 */
export async function sideBySide(options: Options, closing: Closing): Promise<boolean> {
  const begin = performance.now();
  const others = await othersOf(options);
  const cluster = await openCluster(closing);
  const setting = await openSetting(cluster, await scaleFor(cluster, options));
  say(`Starting ${[service, ...others].map(({ name }) => name).join(", ")}`);
  const field = await startField(others, setting, closing);
  const notes: string[] = [];
  const cells: Cell[] = [];
  const queries = options.reads.length + (options.writes ? Object.keys(writeQueries).length : 0);
  const nextDeadline = deadlines(begin, options.budget, queries * options.connections.length);
  for (const query of options.reads) {
    const players = await compare(query, field, setting, options, notes);
    const { postmaster } = setting;
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
      say(lineOf(played));
    }
  }
  for (const { child } of field.ready) await child.stop();
  if (options.writes) cells.push(...(await measureWrites(options, setting, nextDeadline, closing)));

  const titles: Record<string, { title: string }> = { ...readQueries, ...writeQueries };
  const asked = [...new Set(cells.map(({ query }) => query))];
  const files = reportFiles({
    options,
    scale: setting.database.scale,
    contestants: [service, ...others],
    cells,
    titles: Object.fromEntries(asked.map((query) => [query, titles[query]!.title])),
    notes,
    machine: describeMachine(setting.version),
    minutes: (performance.now() - begin) / 60_000,
  });
  say(`Written: ${(await writeResults(files)).join(", ")}`);
  return notes.length === 0 && cells.every(({ rounds }) => rounds.every(({ failures }) => failures === 0));
}

/** The contestants whose answers are right; wrong answers of the others are noted. */
async function compare(
  query: ReadName,
  { ready, tokens }: Field,
  { database }: Setting,
  { quick }: Options,
  notes: string[],
): Promise<Player[]> {
  const parameters = await parametersOf(database.ownerUrl, query, { most: quick ? quickVariants : Infinity });
  const token = await tokens();
  const judge = ready.find(({ contestant }) => contestant === service)!;
  const { answers } = await verify(judge, token, query, parameters, null);
  const players: Player[] = [];
  for (const one of ready) {
    const { name, lacks } = one.contestant;
    if (lacks?.includes(query)) continue;
    try {
      const { requests } = await verify(one, token, query, parameters, answers);
      players.push({ name, child: one.child, token: tokens, nextRequests: () => requests });
    } catch (error) {
      const note = `${name} is left out of ${query}: ${(error as Error).message}`;
      say(note);
      notes.push(note);
    }
  }
  return players;
}
