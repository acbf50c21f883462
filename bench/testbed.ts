import { randomBytes } from "node:crypto";
import type { ClientCredentials } from "../src/auth/credentials.ts";
import { say } from "../src/commands/terminal.ts";
import type { Cleanup } from "./cleanup.ts";
import type { Contestant } from "./contestants/contestant.ts";
import { serviceContestant } from "./contestants/service.ts";
import { startContestant } from "./contestants/start.ts";
import type { BenchCluster, BenchDatabase } from "./data/database.ts";
import { openBenchCluster } from "./data/database.ts";
import { findServer } from "./data/server.ts";
import { makeCredential, tokensFrom } from "./data/token.ts";
import type { Child } from "./measure/child.ts";
import type { Ready } from "./measure/verify.ts";
import { asker } from "./measure/verify.ts";
import type { BenchOptions } from "./options.ts";

/** A database of some scale, and the means to start contestants on it. */
export interface Testbed {
  database: BenchDatabase;
  signingKey: string;
  credential: ClientCredentials;
  /** Process id of Postgres' first process. */
  postmaster: number;
  /** Version of Postgres. */
  version: string;
}

/**
 * Starts the benchmark's cluster. It stops at the end of the run.
 *
 * @param flags other settings of Postgres
 */
export async function openCluster(
  cleanup: Cleanup,
  flags: Record<string, string> = {},
): Promise<BenchCluster> {
  const cluster = await openBenchCluster(flags);
  cleanup.add(() => cluster.stop());
  return cluster;
}

/** Returns the scale to measure: 100, unless a quick run would have to create it first. */
export async function scaleFor(cluster: BenchCluster, { scale, quick }: BenchOptions): Promise<number> {
  return scale ?? (quick && !(await cluster.filledScales()).includes(100) ? 10 : 100);
}

/** Opens the database of a scale, which is created if it is missing. */
export async function openData(cluster: BenchCluster, scale: number): Promise<BenchDatabase> {
  const isFilled = (await cluster.filledScales()).includes(scale);
  say(isFilled ? `Data of scale ${scale}` : `Making data of scale ${scale}, which takes a while`);
  return cluster.open(scale, isFilled ? () => {} : say);
}

/** Opens the database of a scale as a testbed. */
export async function openTestbed(cluster: BenchCluster, scale: number): Promise<Testbed> {
  return testbedOn(await openData(cluster, scale));
}

/** Makes a testbed from a database. */
export async function testbedOn(database: BenchDatabase): Promise<Testbed> {
  return {
    database,
    signingKey: randomBytes(32).toString("base64url"),
    credential: await makeCredential(database.ownerUrl),
    ...(await findServer(database.adminUrl)),
  };
}

/** Running contestants, and access tokens that all of them accept. */
export interface RunningContestants {
  ready: Ready[];
  tokens: () => Promise<string>;
}

/** Starts the service, then the other contestants. They stop at the end of the run. */
export async function startContestants(
  others: readonly Contestant[],
  testbed: Testbed,
  cleanup: Cleanup,
): Promise<RunningContestants> {
  const start = async (contestant: Contestant): Promise<Child> => {
    const child = await startContestant(contestant, testbed);
    cleanup.add(() => child.stop());
    return child;
  };
  const first = await start(serviceContestant);
  const tokens = tokensFrom(first.url, testbed.credential);
  const token = await tokens();
  const findOut = async (contestant: Contestant, child: Child): Promise<Ready> => {
    const { ask, close } = asker(child, token);
    const speaker = await contestant.makeAdapter(ask, testbed.database.ownerUrl);
    await close();
    return { contestant, child, speaker };
  };
  const ready = await Promise.all([
    findOut(serviceContestant, first),
    ...others.map(async (contestant) => findOut(contestant, await start(contestant))),
  ]);
  return { ready, tokens };
}
