import { say } from "../src/commands/terminal.ts";
import { UserError } from "../src/errors/user-error.ts";
import type { Cleanup } from "./cleanup.ts";
import { findServer } from "./data/server.ts";
import { Arena } from "./fairness/arena.ts";
import { violatedBounds, outcomeLine } from "./fairness/bounds.ts";
import { attacks } from "./fairness/attacks/all.ts";
import type { BenchOptions } from "./options.ts";
import { fairnessFiles } from "./report/fairness.ts";
import type { Played } from "./report/fairness.ts";
import { describeMachine } from "./report/machine.ts";
import { writeResults } from "./report/write.ts";
import { openCluster, openData } from "./testbed.ts";

/**
 * Runs attacks of one client while ordinary clients send requests, with the default limits.
 *
 * @returns whether no attack affected ordinary clients
 */
export async function fairness(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  const { attacks: names, seconds, scale = 1 } = options;
  const unknown = names.filter((name) => attacks.every((attack) => attack.name !== name));
  if (unknown.length > 0) throw new UserError(`There is no attack called ${unknown.join(", ")}.`);
  const cluster = await openCluster(cleanup);
  // A copy, because the attacks change it
  const database = await (await openData(cluster, scale)).copy();
  cleanup.add(() => database.drop());
  const arena = await Arena.open({ database });
  cleanup.add(() => arena.close());
  const played: Played[] = [];
  for (const attack of attacks.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const quiet = await arena.measureBaseline(seconds / 2);
    const outcome = await arena.measureDuring(attack, seconds);
    const broken = violatedBounds(quiet, outcome);
    say(
      `${attack.name}: ${[outcomeLine(quiet, outcome), ...broken.map((bound) => `BROKEN: ${bound}`)].join("; ")}`,
    );
    played.push({ attack, quiet, outcome, broken });
  }
  const { version } = await findServer(database.adminUrl);
  const files = fairnessFiles({ played, machine: describeMachine(version), options: { ...options, scale } });
  say(`Written: ${(await writeResults(files)).join(", ")}`);
  return played.every(({ broken }) => broken.length === 0);
}
