import { setTimeout as sleep } from "node:timers/promises";
import { say } from "../src/commands/terminal.ts";
import type { Cleanup } from "./cleanup.ts";
import { serviceContestant } from "./contestants/service.ts";
import { startContestant } from "./contestants/start.ts";
import { parametersOf } from "./data/parameters.ts";
import { load } from "./measure/load.ts";
import type { PreparedRequest } from "./measure/load.ts";
import { peakMemory, resetPeakMemory } from "./measure/peak-memory.ts";
import { median } from "./measure/statistics.ts";
import { verifyAnswers } from "./measure/verify.ts";
import { openPlayground, phases, runPhases } from "./memory-phases.ts";
import type { Done, Phase } from "./memory-phases.ts";
import type { BenchOptions } from "./options.ts";
import { readNames } from "./queries/reads.ts";
import { describeMachine } from "./report/machine.ts";
import type { MemoryPoint, Start } from "./report/memory.ts";
import { boundMegabytes, memoryFiles } from "./report/memory.ts";
import { writeResults } from "./report/write.ts";
import type { RunningContestants, Testbed } from "./testbed.ts";
import { openCluster, openData, scaleFor, startContestants, testbedOn } from "./testbed.ts";

/** Numbers of reads after which memory is measured. */
const milestones = [10_000, 100_000];
const starts = 5;
const connections = 32;
/** Seconds of a pause, after which idle threads have ended. */
const pauseSeconds = 75;

/**
 * Measures the service's memory during all kinds of work, and the time of its start.
 *
 * @returns whether all responses were correct, and the remaining memory is within its bound
 */
export async function memory(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  const cluster = await openCluster(cleanup);
  // A copy, because it is changed
  const copy = await (await openData(cluster, await scaleFor(cluster, options))).copy();
  cleanup.add(() => copy.drop());
  const testbed = await testbedOn(copy);
  const startsMeasured = await measureStarts(testbed);
  say(`Starts: ${startsMeasured.map(({ time }) => `${Math.round(time)} ms`).join(", ")}`);

  const contestants = await startContestants([], testbed, cleanup);
  const points = await measurePhases(contestants, testbed, options);
  const machine = describeMachine(testbed.version);
  const start = {
    time: median(startsMeasured.map(({ time }) => time)),
    cpu: median(startsMeasured.map(({ cpu }) => cpu)),
  };
  const files = memoryFiles({
    points,
    start,
    machine,
    scale: testbed.database.scale,
    options,
  });
  say(`Written: ${(await writeResults(files)).join(", ")}`);
  return points.every(({ failures }) => failures === 0) && points.at(-1)!.megabytes <= boundMegabytes;
}

/** Measures memory with one kind of work after the other, then with all at once, and then idle. */
async function measurePhases(
  contestants: RunningContestants,
  testbed: Testbed,
  { quick, seconds }: BenchOptions,
): Promise<MemoryPoint[]> {
  const { child } = contestants.ready[0]!;
  const requests = await mixOf(contestants, testbed);
  const playground = await openPlayground(child.url, testbed);
  const points: MemoryPoint[] = [];
  const measure = async (name: string, work: () => Promise<Done>) => {
    await resetPeakMemory(child.pid);
    const { count, failures } = await work();
    const [megabytes, peak] = [(await child.usage()).memory, await peakMemory(child.pid)].map(inMegabytes);
    points.push({
      name,
      count,
      failures: failures.length,
      megabytes: megabytes!,
      peak: peak!,
    });
    say(`${name}: ${count}, ${megabytes!.toFixed(0)} MiB, at most ${peak!.toFixed(0)}`);
    if (failures.length > 0) say(`${failures.length} failed, for example: ${failures[0]!}`);
  };
  const read = async (count: number): Promise<Done> => {
    const token = await contestants.tokens();
    const wrong = (await load({ url: child.url, token, connections, requests, count })).failures;
    return { count, failures: Array<string>(wrong).fill("a wrong answer") };
  };
  let done = 0;
  for (const milestone of quick ? milestones.slice(0, 1) : milestones) {
    await measure(`${milestone.toLocaleString("en-GB")} reads`, () => read(milestone - done));
    done = milestone;
  }
  for (const phase of phases) await measure(phase.name, () => runPhases(playground, [phase], seconds));
  const reads: Phase = {
    name: "reads",
    connections: 1,
    once: () => read(2_000),
  };
  await measure("all at once", () => runPhases(playground, [...phases, reads], seconds * 3));
  await measure(`a pause of ${pauseSeconds} s`, async () => {
    await sleep(pauseSeconds * 1_000);
    return { count: 0, failures: [] };
  });
  return points;
}

const inMegabytes = (bytes: number): number => bytes / 2 ** 20;

/** Measures the time from the start of the service's process until it responds, without a start of Postgres. */
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
