import { existsSync } from "node:fs";
import { say } from "../../src/commands/terminal.ts";
import { UserError } from "../../src/errors/user-error.ts";
import type { BenchOptions } from "../options.ts";
import type { Contestant } from "./contestant.ts";
import { ablatedServices } from "./ablations.ts";
import { install } from "./install.ts";
import { limit, limitPipelined } from "./limit.ts";
import { largePeers, peers } from "./peers.ts";

/**
 * The contestants beside the service.
 *
 * @throws {UserError} when an unknown one is requested
 */
export async function othersOf({ peers: wanted, with: added }: BenchOptions): Promise<Contestant[]> {
  const chosen = [
    ...(wanted ? named(wanted, peers) : peers).filter(({ program }) => existsSync(program)),
    ...named(added, [...largePeers, ...ablatedServices]),
  ];
  for (const { folder } of chosen) if (folder) await install(folder, say);
  return [limit, limitPipelined, ...chosen];
}

function named(wanted: readonly string[], contestants: readonly Contestant[]): Contestant[] {
  const names = contestants.map(({ name }) => name);
  const unknown = wanted.find((name) => name !== "none" && !names.includes(name));
  if (unknown !== undefined) throw new UserError(`There is no ${unknown}. There are ${names.join(", ")}.`);
  return contestants.filter(({ name }) => wanted.includes(name));
}
