import { say } from "../src/commands/terminal.ts";
import type { Cleanup } from "./cleanup.ts";
import { serviceContestant } from "./contestants/service.ts";
import { startContestant } from "./contestants/start.ts";
import { parametersOf } from "./data/parameters.ts";
import { load } from "./measure/load.ts";
import type { PreparedRequest } from "./measure/load.ts";
import { median } from "./measure/statistics.ts";
import { verifyAnswers } from "./measure/verify.ts";
import type { BenchOptions } from "./options.ts";
import { readNames } from "./queries/reads.ts";
import { describeMachine } from "./report/machine.ts";
import type { Start } from "./report/memory.ts";
import { memoryFiles } from "./report/memory.ts";
import { writeResults } from "./report/write.ts";
import type { RunningContestants, Testbed } from "./testbed.ts";
import { openCluster, openTestbed, scaleFor, startContestants } from "./testbed.ts";

/** Numbers of requests after which memory is measured. */
const milestones = [10_000, 20_000, 40_000, 60_000, 80_000, 100_000];
const starts = 5;
const connections = 32;

/**
 * Measures the service's memory while it answers many requests of all kinds, and the time of its start.
 *
 * @returns whether all answers were right
 */
export async function memory(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  const cluster = await openCluster(cleanup);
  const testbed = await openTestbed(cluster, await scaleFor(cluster, options));
  const startsMeasured = await measureStarts(testbed);
  say(`Starts: ${startsMeasured.map(({ time }) => `${Math.round(time)} ms`).join(", ")}`);

  const contestants = await startContestants([], testbed, cleanup);
  const requests = await mixOf(contestants, testbed);
  const { child } = contestants.ready[0]!;
  const points: { requests: number; megabytes: number }[] = [];
  let done = 0;
  let failures = 0;
  for (const milestone of options.quick ? milestones.slice(0, 2) : milestones) {
    // In pieces, so that the access token stays valid
    while (done < milestone) {
      const count = Math.min(2_000, milestone - done);
      const token = await contestants.tokens();
      failures += (await load({ url: child.url, token, connections, requests, count })).failures;
      done += count;
    }
    const megabytes = (await child.usage()).memory / 2 ** 20;
    points.push({ requests: done, megabytes });
    say(
      `After ${done.toLocaleString("en-GB")} requests: ${Math.round(megabytes)} MiB, ${failures} wrong answers`,
    );
  }
  await child.stop();
  const machine = describeMachine(testbed.version);
  const start = {
    time: median(startsMeasured.map(({ time }) => time)),
    cpu: median(startsMeasured.map(({ cpu }) => cpu)),
  };
  const files = memoryFiles({ points, start, failures, machine, scale: testbed.database.scale, options });
  say(`Written: ${(await writeResults(files)).join(", ")}`);
  return failures === 0;
}

/** Time from the start of the service's process until it answers, without a start of Postgres. */
async function measureStarts(testbed: Testbed): Promise<Start[]> {
  const times: Start[] = [];
  for (let start = 0; start < starts; start++) {
    const child = await startContestant(serviceContestant, testbed);
    times.push({ time: child.startUp, cpu: (await child.usage()).cpu / 1000 });
    await child.stop();
  }
  return times;
}

/** Requests of all queries, in turns. */
async function mixOf(contestants: RunningContestants, { database }: Testbed): Promise<PreparedRequest[]> {
  const token = await contestants.tokens();
  const lists = await Promise.all(
    readNames.map(async (query) => {
      const parameters = await parametersOf(database.ownerUrl, query);
      return (await verifyAnswers(contestants.ready[0]!, token, query, parameters, null)).requests;
    }),
  );
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) => lists.map((list) => list[turn % list.length]!)).flat();
}
