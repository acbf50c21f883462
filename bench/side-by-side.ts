import { randomBytes } from "node:crypto";
import { say } from "../src/commands/terminal.ts";
import type { Closing } from "./closing.ts";
import { contestantsOf } from "./contestants/all.ts";
import { startContestant } from "./contestants/start.ts";
import type { BenchCluster, BenchDatabase } from "./data/database.ts";
import { openBenchCluster } from "./data/database.ts";
import { parametersOf } from "./data/parameters.ts";
import { findServer } from "./data/server.ts";
import { makeCredential, tokensFrom } from "./data/token.ts";
import type { Cell, Player } from "./measure/rounds.ts";
import { playMatch } from "./measure/rounds.ts";
import type { Ready } from "./measure/verify.ts";
import { asker, verify } from "./measure/verify.ts";
import type { Options } from "./options.ts";
import type { ReadName } from "./queries/reads.ts";
import { readQueries } from "./queries/reads.ts";
import { writeQueries } from "./queries/writes.ts";
import { lineOf } from "./report/progress.ts";
import { measureWrites } from "./side-by-side-writes.ts";
import { describeMachine } from "./report/machine.ts";
import { reportFiles } from "./report/side-by-side.ts";
import { writeResults } from "./report/write.ts";

/** In a quick run, no more different requests than this are compared and sent. */
const quickVariants = 30;

/** Measures all contestants, in turns, and writes the report. */
export async function sideBySide(options: Options, closing: Closing): Promise<boolean> {
  const begin = performance.now();
  const contestants = await contestantsOf(options);
  const cluster = await openBenchCluster();
  closing.add(() => cluster.stop());
  const database = await openDatabase(cluster, options);
  const signingKey = randomBytes(32).toString("base64url");
  const credential = await makeCredential(database.ownerUrl);
  const { postmaster, version } = await findServer(database.adminUrl);

  say(`Starting ${contestants.map(({ name }) => name).join(", ")}`);
  const ready: Ready[] = [];
  const notes: string[] = [];
  let token = "";
  let tokens = async () => token;
  for (const contestant of contestants) {
    const child = await startContestant(contestant, { database, signingKey });
    closing.add(() => child.stop());
    if (contestant.name === "service") tokens = tokensFrom(child.url, credential);
    token = await tokens();
    const { ask, close } = asker(child.url, () => token);
    ready.push({ contestant, child, speaker: await contestant.speak(ask) });
    await close();
  }

  const cells: Cell[] = [];
  for (const query of options.reads) {
    token = await tokens();
    const players = await comparePlayers(query, ready, () => token, database, options, notes);
    for (const connections of options.connections) {
      const { rounds, seconds } = options;
      const played = await playMatch(players, { query, connections, rounds, seconds, token: tokens, postmaster });
      cells.push(...played);
      say(lineOf(played));
    }
  }
  for (const { child } of ready) await child.stop();
  if (options.writes) {
    cells.push(...(await measureWrites({ options, database, signingKey, credential, postmaster }, closing)));
  }

  const minutes = (performance.now() - begin) / 60_000;
  const queries: Record<string, { title: string }> = { ...readQueries, ...writeQueries };
  const asked = [...new Set(cells.map(({ query }) => query))];
  const titles = Object.fromEntries(asked.map((query) => [query, queries[query]!.title]));
  const machine = describeMachine(version);
  const { scale } = database;
  const files = reportFiles({ options, scale, contestants, cells, titles, notes, machine, minutes });
  say(`Written: ${(await writeResults(files)).join(", ")}`);
  return notes.length === 0 && cells.every(({ rounds }) => rounds.every(({ failures }) => failures === 0));
}

/** The database to measure on: of scale 100, unless a quick run would have to make it first. */
async function openDatabase(cluster: BenchCluster, { scale, quick }: Options): Promise<BenchDatabase> {
  const filled = await cluster.filledScales();
  const wanted = scale ?? (quick && !filled.includes(100) ? 10 : 100);
  say(`Measuring at scale ${wanted}${filled.includes(wanted) ? "" : ", which is filled first; this takes minutes"}`);
  return cluster.open(wanted, say);
}

/** Those whose answers are right; what the others answered instead is noted. */
async function comparePlayers(
  query: ReadName,
  ready: readonly Ready[],
  token: () => string,
  database: BenchDatabase,
  { quick }: Options,
  notes: string[],
): Promise<Player[]> {
  const parameters = await parametersOf(database.ownerUrl, query, quick ? quickVariants : Infinity);
  const judge = ready.find(({ contestant }) => contestant.name === "service")!;
  const { answers } = await verify(judge, token, query, parameters, null);
  const players: Player[] = [];
  for (const one of ready) {
    const { name } = one.contestant;
    try {
      const { requests } = await verify(one, token, query, parameters, answers);
      players.push({ name, child: one.child, requestsOf: () => requests });
    } catch (error) {
      const note = `${name} is left out of ${query}: ${(error as Error).message}`;
      say(note);
      notes.push(note);
    }
  }
  return players;
}
