import type { AttackOutcome } from "./arena.ts";
import type { ClientResults } from "./normal-clients.ts";

export const mib = 1_048_576;

/** Limits that must hold for ordinary clients and the service, whatever one client does. */
export const bounds = { p99Times: 10, p99Ms: 100, memory: 1_000 * mib };

/** Describes the bounds that an attack has violated. */
export function violatedBounds(quiet: ClientResults, { beside, memory }: AttackOutcome): string[] {
  const maxP99 = Math.max(bounds.p99Ms, bounds.p99Times * quiet.p99);
  const broken: string[] = [];
  if (beside.requests === 0) broken.push("no requests");
  if (beside.failures.length > 0)
    broken.push(`${beside.failures.length} failures: ${[...new Set(beside.failures)].join("; ")}`);
  if (!(beside.p99 <= maxP99))
    broken.push(`p99 of ${beside.p99.toFixed(1)} ms, at most ${maxP99.toFixed(1)}`);
  if (memory > bounds.memory) broken.push(`${Math.round(memory / mib)} MiB of memory`);
  return broken;
}

/** Prints a result as one line. */
export function outcomeLine(
  quiet: ClientResults,
  { beside, memory, isOfAttack, answers }: AttackOutcome,
): string {
  const ms = (value: number) => value.toFixed(1);
  const answered = Object.entries(answers).map(([answer, count]) => `${answer} ×${count}`);
  return (
    `p99 ${ms(quiet.p99)} ms quiet, ${ms(beside.p99)} beside (×${(beside.p99 / quiet.p99).toFixed(1)}, ` +
    `at most ${ms(beside.max)}); p50 ${ms(quiet.p50)}, ${ms(beside.p50)}; ${beside.requests} requests, ` +
    `${beside.failures.length} failed; ${Math.round(memory / mib)} MiB ${isOfAttack ? "" : "so far"}; ` +
    `the attacker: ${answered.join(", ")}`
  );
}
