import type { Options } from "../options.ts";
import type { Contestant } from "./contestant.ts";
import { limit } from "./limit.ts";
import { service } from "./service.ts";

/** Who takes part: the service first, for it issues the access tokens and its answers are what is right. */
export async function contestantsOf(_options: Options): Promise<Contestant[]> {
  return [service, limit];
}
