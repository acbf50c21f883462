import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { limit } from "../../bench/contestants/limit.ts";
import { serviceContestant } from "../../bench/contestants/service.ts";
import type { Cell } from "../../bench/measure/rounds.ts";
import { readOptions } from "../../bench/options.ts";
import { claimsOf, inBothRuns, runToRepeat } from "../../bench/report/both-runs.ts";
import type { EarlierRun } from "../../bench/report/both-runs.ts";
import { reportFiles } from "../../bench/report/side-by-side.ts";

const cell = (contestant: string, query: string, rate: number): Cell => ({
  ...{ contestant, query, connections: 1 },
  rounds: [
    { perSecond: rate, medianTime: 1, slowTime: 2, nodeCpu: 1, postgresCpu: 1, requests: 10, failures: 0 },
  ],
});

/** A run in which the service is so many times as fast as LIMIT. */
const run = (commit: string | null, shares: Record<string, number>, earlier: EarlierRun | null = null) =>
  reportFiles({
    options: readOptions(["--connections", "1"]),
    scale: 100,
    contestants: [serviceContestant, limit],
    cells: Object.entries(shares).flatMap(([query, share]) => [
      cell("service", query, 100 * share),
      cell("limit", query, 100),
    ]),
    titles: {},
    notes: [],
    machine: { processor: "x", cores: 2, memoryInGiB: 24, node: "v24", postgres: "18", date: "2026-11-23" },
    ...{ commit, earlier, minutes: 9 },
  });

describe("a second run", () => {
  const first = run("abc", { A: 1.2, B: 1.1, C: 0.5 })["side-by-side.json"]!;
  const earlier = runToRepeat(first, { commit: "abc", scale: 100 });

  it("shows its shares beside those of the first, and what both hold", () => {
    const text = run("abc", { A: 1.3, B: 0.9, C: 0.5 }, earlier)["side-by-side.md"]!;
    assert.match(text, /\| A \| 1\.20–1\.30 \| 1\.00 \|/);
    assert.match(text, /\| C \| 0\.50 \| 1\.00 \|/);
    assert.match(text, /LIMIT: in both runs A; in one of them B; in neither C\./);
  });

  it("can be repeated itself", () => {
    const second = run("abc", { A: 1.3 }, earlier)["side-by-side.json"]!;
    const { cells } = runToRepeat(second, { commit: "abc", scale: 100 })!;
    assert.equal(cells[0]!.shareOfLimit, 1.3);
  });

  it("draws the lesser share", () => {
    assert.match(run("abc", { A: 1.3 }, earlier)["side-by-side.svg"]!, />1\.20</);
  });

  it("repeats only a run of the same commit on as much data", () => {
    assert.equal(runToRepeat(first, { commit: "def", scale: 100 }), null);
    assert.equal(runToRepeat(first, { commit: "abc", scale: 10 }), null);
    assert.equal(runToRepeat(null, { commit: "abc", scale: 100 }), null);
    // Changed since the commit
    const changed = run(null, { A: 1.2 })["side-by-side.json"]!;
    assert.equal(runToRepeat(changed, { commit: null, scale: 100 }), null);
  });
});

it("says of one run that it is one", () => {
  const text = run("abc", { A: 1.2 })["side-by-side.md"]!;
  assert.match(text, /\| A \| 1\.20 \| 1\.00 \|/);
  assert.match(text, /This is one run\./);
});

it("compares the same query, connections and contestant", () => {
  const earlier = { commit: "abc", scale: 100, machine: { date: "" }, cells: [] };
  assert.deepEqual(inBothRuns(cell("service", "A", 1), 1.5, earlier), [1.5]);
  assert.equal(claimsOf(new Map([["A", [1.5]]])), "in both runs A; in one of them none; in neither none");
});
