import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { median, quantile, ratio } from "../../bench/measure/statistics.ts";
import { machineRows } from "../../bench/report/replicas.ts";

describe("the median", () => {
  it("is the middle, in any order", () => assert.equal(median([9, 1, 5]), 5));
  it("is the mean of the two in the middle", () => assert.equal(median([1, 2, 10, 4]), 3));
  it("is not a number when there are none", () => assert.equal(median([]), NaN));
  it("leaves the numbers as they were", () => {
    const numbers = [3, 1, 2];
    median(numbers);
    assert.deepEqual(numbers, [3, 1, 2]);
  });
});

describe("a quantile", () => {
  const hundred = Array.from({ length: 101 }, (_, index) => index);
  it("is what a share of the numbers doesn't exceed", () => assert.equal(quantile(hundred, 0.99), 99));
  it("lies between two numbers by proportion", () => assert.equal(quantile([0, 10], 0.25), 2.5));
});

describe("a ratio", () => {
  it("compares within rounds, so that a slow round of both counts like a fast one", () =>
    assert.equal(ratio([50, 5, 500], [100, 10, 1000]), 0.5));
  it("is the median of the rounds", () => assert.equal(ratio([1, 9, 2], [1, 1, 1]), 2));
  it("leaves out rounds that the other did not play", () => assert.equal(ratio([2, 4, 6], [1]), 2));
});

describe("what more machines would bring", () => {
  const cost = (count: number, primaryCpu: number, replicaCpu: number, nodeCpu: number) => ({
    ...{ count, primaryCpu, replicaCpu, nodeCpu },
  });
  it("is in proportion to them when a read costs the same, and less when it costs more", () => {
    const rows = machineRows([cost(0, 100, 0, 100), cost(1, 0, 100, 100), cost(2, 0, 150, 150)]);
    assert.deepEqual(rows, [
      ["1", "10000", "1.0", "10000", "1.0"],
      ["2", "20000", "2.0", "20000", "2.0"],
      ["3", "20000", "2.0", "30000", "3.0"],
    ]);
  });
});
