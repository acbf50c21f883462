import { say } from "../../src/commands/terminal.ts";
import { UserError } from "../../src/errors/user-error.ts";
import type { BenchOptions } from "../options.ts";
import { ablatedServices } from "./ablations.ts";
import type { Contestant } from "./contestant.ts";
import { install } from "./install.ts";
import { limit, limitPipelined, sameFunction } from "./limit.ts";
import { peers } from "./peers.ts";
import { serviceContestant } from "./service.ts";

/** Contestants that only take part if they are named. */
const others = [...peers, ...ablatedServices];

/**
 * Returns the contestants of a run, the service first.
 *
 * @throws {UserError} if an unknown one is named
 */
export async function chooseContestants({ with: wanted }: BenchOptions): Promise<Contestant[]> {
  const names = others.map(({ name }) => name);
  const unknown = wanted.find((name) => name !== "none" && !names.includes(name));
  if (unknown !== undefined) throw new UserError(`There is no ${unknown}. There are ${names.join(", ")}.`);
  const chosen = others.filter(({ name }) => wanted.includes(name));
  for (const { folder } of chosen) if (folder) await install(folder, say);
  return [serviceContestant, limit, limitPipelined, sameFunction, ...chosen];
}
