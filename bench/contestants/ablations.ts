import { ablations } from "../ablations/list.ts";
import { readNames } from "../queries/reads.ts";
import { writeNames } from "../queries/writes.ts";
import type { Contestant } from "./contestant.ts";
import { serviceContestant } from "./service.ts";

/** The service without one of its fast paths, to learn what each is worth. */
export const ablatedServices: readonly Contestant[] = ablations.map(({ name, title, concerns }) => ({
  ...serviceContestant,
  name,
  title: `this service, but ${title}`,
  execArgv: [
    ...serviceContestant.execArgv!,
    "--import",
    new URL("../ablations/without.ts", import.meta.url).href,
  ],
  environment: { ...serviceContestant.environment, ABLATION: name },
  answers: [...(concerns.reads ? readNames : []), ...(concerns.writes ? writeNames : [])],
  remarks: [],
}));
