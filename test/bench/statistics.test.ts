import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { median, quantile, ratio } from "../../bench/measure/statistics.ts";

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
