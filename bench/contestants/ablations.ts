import { ablations } from "../ablations/list.ts";
import { readNames } from "../queries/reads.ts";
import type { Contestant } from "./contestant.ts";
import { serviceContestant } from "./service.ts";

/** The service without one of its fast paths, to learn what each is worth. They take part when requested by name. */
export const ablatedServices: readonly (Contestant & { writes: boolean })[] = ablations.map(
  ({ name, title, concerns }) => ({
    ...serviceContestant,
    name,
    title: `this service, but ${title}`,
    execArgv: [...serviceContestant.execArgv!, "--import", new URL("../ablations/without.ts", import.meta.url).href],
    environment: { ...serviceContestant.environment, ABLATION: name },
    lacks: concerns.reads ? [] : readNames,
    remarks: [],
    writes: concerns.writes,
  }),
);
