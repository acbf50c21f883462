import assert from "node:assert/strict";
import { it } from "node:test";
import { deadlines } from "../../bench/schedule.ts";

it("gives each part an equal share of the time that is left", () => {
  let now = 20_000;
  const next = deadlines(0, 100, 4, () => now);
  assert.equal(next(), 40_000);
  // The first took longer
  now = 70_000;
  assert.equal(next(), 80_000);
  // No time is left: the others end at once
  now = 130_000;
  assert.equal(next(), 130_000);
  assert.equal(next(), 130_000);
});

it("lets parts take their time without a budget", () => {
  assert.equal(deadlines(0, Infinity, 2)(), Infinity);
});
