import assert from "node:assert/strict";
import { it } from "node:test";
import type { AttackOutcome } from "../../bench/fairness/arena.ts";
import { attacks } from "../../bench/fairness/attacks/all.ts";
import { violatedBounds, mib } from "../../bench/fairness/bounds.ts";
import type { ClientResults } from "../../bench/fairness/normal-clients.ts";
import { fairnessFiles } from "../../bench/report/fairness.ts";
import { describeMachine } from "../../bench/report/machine.ts";

const experience = (p99: number, failures: string[] = [], requests = 100): ClientResults => {
  return { requests, failures, p50: p99 / 2, p99, max: p99 };
};
const outcome = (beside: ClientResults, memoryInMib = 300): AttackOutcome => {
  return { beside, answers: { 200: 3 }, memory: memoryInMib * mib, isOfAttack: true };
};

it("an attack is noticed by its p99, its failures and its memory", () => {
  const kept = (quiet: number, result: AttackOutcome) =>
    violatedBounds(experience(quiet), result).length === 0;
  assert.ok(kept(5, outcome(experience(100))));
  assert.ok(!kept(5, outcome(experience(101))));
  assert.ok(kept(20, outcome(experience(200))));
  assert.ok(!kept(20, outcome(experience(201))));
  assert.ok(!kept(5, outcome(experience(5, ["503 SERVICE_UNAVAILABLE"]))));
  assert.ok(!kept(5, outcome(experience(5), 1_001)));
  assert.ok(!kept(5, outcome(experience(Number.NaN, [], 0))));
});

it("the report has a line for each attack, and says what was broken", () => {
  const [one, other] = attacks;
  const played = [
    { attack: one!, quiet: experience(5), outcome: outcome(experience(10)), broken: [] },
    { attack: other!, quiet: experience(5), outcome: outcome(experience(500)), broken: ["p99 of 500 ms"] },
  ];
  const options = { quick: false, seconds: 20, scale: 1 };
  const { "fairness.md": text } = fairnessFiles({ played, machine: describeMachine("18.4"), options });
  assert.match(text!, /\| documents \| 5\.0 \| 10\.0 \| 2\.0 \|.*\| 300 \|/);
  assert.match(text!, /At most the p99 is 100\.0 times/);
  assert.match(text!, /What it has broken:\s+- introspection: p99 of 500 ms/);
  assert.match(text!, /\| 200: 3 \|/);
});

it("attacks have names of their own", () => {
  assert.equal(new Set(attacks.map(({ name }) => name)).size, attacks.length);
});
