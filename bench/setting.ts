import { randomBytes } from "node:crypto";
import type { ClientCredentials } from "../src/auth/credentials.ts";
import { say } from "../src/commands/terminal.ts";
import type { Closing } from "./closing.ts";
import type { Contestant } from "./contestants/contestant.ts";
import { service } from "./contestants/service.ts";
import { startContestant } from "./contestants/start.ts";
import type { BenchCluster, BenchDatabase } from "./data/database.ts";
import { openBenchCluster } from "./data/database.ts";
import { findServer } from "./data/server.ts";
import { makeCredential, tokensFrom } from "./data/token.ts";
import type { Child } from "./measure/child.ts";
import type { Ready } from "./measure/verify.ts";
import { asker } from "./measure/verify.ts";
import type { Options } from "./options.ts";

/** A database of some scale, and the means to start contestants on it. */
export interface Setting {
  database: BenchDatabase;
  signingKey: string;
  credential: ClientCredentials;
  /** Process id of Postgres' first process. */
  postmaster: number;
  /** Version of Postgres. */
  version: string;
}

/** Starts the cluster of the measurements, until the run closes. */
export async function openCluster(closing: Closing): Promise<BenchCluster> {
  const cluster = await openBenchCluster();
  closing.add(() => cluster.stop());
  return cluster;
}

/** The scale to measure at: 100, unless a quick run would have to make it first. */
export async function scaleFor(cluster: BenchCluster, { scale, quick }: Options): Promise<number> {
  return scale ?? (quick && !(await cluster.filledScales()).includes(100) ? 10 : 100);
}

/** Opens the data of a scale, and makes it if it is missing. */
export async function openData(cluster: BenchCluster, scale: number): Promise<BenchDatabase> {
  const isFilled = (await cluster.filledScales()).includes(scale);
  say(isFilled ? `Data of scale ${scale}` : `Making data of scale ${scale}, which takes a while`);
  return cluster.open(scale, isFilled ? () => {} : say);
}

/** Opens the data of a scale, and the means to measure on it. */
export async function openSetting(cluster: BenchCluster, scale: number): Promise<Setting> {
  const database = await openData(cluster, scale);
  return {
    database,
    signingKey: randomBytes(32).toString("base64url"),
    credential: await makeCredential(database.ownerUrl),
    ...(await findServer(database.adminUrl)),
  };
}

/** Running contestants, and the access tokens that all of them accept. */
export interface Field {
  ready: Ready[];
  tokens: () => Promise<string>;
}

/** Starts the service, and then the others, until the run closes. */
export async function startField(
  others: readonly Contestant[],
  setting: Setting,
  closing: Closing,
): Promise<Field> {
  const start = async (contestant: Contestant): Promise<Child> => {
    const child = await startContestant(contestant, setting);
    closing.add(() => child.stop());
    return child;
  };
  const first = await start(service);
  const tokens = tokensFrom(first.url, setting.credential);
  const token = await tokens();
  const findOut = async (contestant: Contestant, child: Child): Promise<Ready> => {
    const { ask, close } = asker(child.url, token);
    const speaker = await contestant.speak(ask, setting.database.ownerUrl);
    await close();
    return { contestant, child, speaker };
  };
  const ready = await Promise.all([
    findOut(service, first),
    ...others.map(async (contestant) => findOut(contestant, await start(contestant))),
  ]);
  return { ready, tokens };
}
