import type { Attack } from "../fairness/attack.ts";
import type { AttackOutcome } from "../fairness/arena.ts";
import { bounds, mib } from "../fairness/bounds.ts";
import type { ClientResults } from "../fairness/normal-clients.ts";
import { normalClients } from "../fairness/normal-clients.ts";
import type { BenchOptions } from "../options.ts";
import type { Machine } from "./machine.ts";
import { machineInWords } from "./machine.ts";
import { table } from "./table.ts";

/** An attack, and the results without it and with it. */
export interface Played {
  attack: Attack;
  quiet: ClientResults;
  outcome: AttackOutcome;
  /** Violated conditions, in words. */
  broken: readonly string[];
}

export interface Fairness {
  played: readonly Played[];
  machine: Machine;
  options: Pick<BenchOptions, "quick" | "seconds" | "scale">;
}

export function fairnessFiles(fairness: Fairness): Record<string, string> {
  return { [`${fairness.options.quick ? "quick-fairness" : "fairness"}.md`]: markdownOf(fairness) };
}

function markdownOf({ played, machine, options: { seconds, scale } }: Fairness): string {
  const isOfAttack = played.every(({ outcome }) => outcome.isOfAttack);
  const ratios = played.map(({ quiet, outcome }) => outcome.beside.p99 / quiet.p99);
  const broken = played.flatMap(({ attack, broken }) => broken.map((bound) => `- ${attack.name}: ${bound}`));
  const { clients, perSecond } = normalClients;
  return [
    "# Fairness",
    `Written by \`npm run bench -- --fairness\`: ${machineInWords(machine)}; demonstration data at scale ${scale}, and 100,000
customers more; limits as they are by default.`,
    `One client does for ${seconds} s what would take from others, and ${clients} usual ones send ${perSecond} requests per second
each meanwhile, at a steady pace. Quiet is how it went for these right before the attack. Times are milliseconds until an
answer was read; memory is what the service held at most, ${isOfAttack ? "during the attack" : "since its start"}.`,
    table(
      ["attack", "p99 quiet", "p99 beside", "ratio", "p50 quiet", "p50 beside", "requests", "failed", "MiB"],
      played.map(({ attack, quiet, outcome: { beside, memory } }, index) => [
        attack.name,
        ...[quiet.p99, beside.p99, ratios[index]!, quiet.p50, beside.p50].map((value) => value.toFixed(1)),
        beside.requests.toLocaleString("en-GB"),
        String(beside.failures.length),
        (memory / mib).toFixed(0),
      ]),
    ),
    `At most the p99 is ${Math.max(...ratios).toFixed(1)} times what it is without an attack. The run fails when it is more than
${bounds.p99Times} times that and more than ${bounds.p99Ms} ms, when a request fails, or when the service holds more than
${bounds.memory / mib} MiB or ends. ${broken.length > 0 ? "What it has broken:" : "It has kept all of these bounds."}`,
    broken.join("\n"),
    "## What the attacker does, and is answered",
    table(
      ["attack", "what", "answers"],
      played.map(({ attack, outcome }) => [attack.name, attack.what, answersOf(outcome)]),
    ),
  ]
    .filter(Boolean)
    .join("\n\n");
}

const answersOf = ({ answers }: AttackOutcome): string =>
  Object.entries(answers)
    .map(([answer, count]) => `${answer}: ${count.toLocaleString("en-GB")}`)
    .join(", ");
