import { existsSync } from "node:fs";
import { say } from "../../src/commands/terminal.ts";
import { UserError } from "../../src/user-error.ts";
import type { Options } from "../options.ts";
import type { Contestant } from "./contestant.ts";
import { install } from "./install.ts";
import { limit, limitInOneFlight } from "./limit.ts";
import { peers } from "./peers.ts";

/**
 * Who takes part beside the service.
 *
 * @throws {UserError} when one is asked for that there is not
 */
export async function othersOf({ peers: wanted }: Options): Promise<Contestant[]> {
  const names = peers.map(({ name }) => name);
  const unknown = wanted?.find((name) => name !== "none" && !names.includes(name));
  if (unknown !== undefined) throw new UserError(`There is no ${unknown}. There are ${names.join(", ")}.`);
  const chosen = peers.filter(({ name, program }) => (wanted?.includes(name) ?? true) && existsSync(program));
  for (const { folder } of chosen) if (folder) await install(folder, say);
  return [limit, limitInOneFlight, ...chosen];
}
