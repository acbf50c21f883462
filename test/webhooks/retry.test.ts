import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { delayMsAfter, parseRetryAfter } from "../../src/webhooks/retry-schedule.ts";

const hourMs = 3_600_000;
const steady = { random: () => 0.5, pace: 1 };

describe("delayAfter", () => {
  it("follows the schedule, and then gives up", () => {
    const delays = Array.from({ length: 11 }, (_, index) => delayMsAfter(index + 1, null, steady));
    const hours = [2, 5, 10, 14, 20, 24].map((count) => count * hourMs);
    assert.deepEqual(delays, [5_000, 300_000, 1_800_000, ...hours, null, null]);
  });
  it("varies by a tenth to either side", () => {
    assert.equal(delayMsAfter(2, null, { random: () => 0, pace: 1 }), 270_000);
    assert.equal(delayMsAfter(2, null, { random: () => 1, pace: 1 }), 330_000);
  });
  it("doesn't come before the receiver wants it, nor before the schedule", () => {
    assert.equal(delayMsAfter(1, 60_000, { random: () => 0, pace: 1 }), 60_000);
    assert.equal(delayMsAfter(1, 60_000, { random: () => 1, pace: 1 }), 66_000);
    assert.equal(delayMsAfter(4, 60_000, steady), 2 * hourMs);
    assert.equal(delayMsAfter(10, 60_000, steady), null);
  });
});

describe("retryAfter", () => {
  const now = Date.parse("2026-06-01T12:00:00Z");
  for (const [header, expected] of [
    ["120", 120_000],
    [" 0 ", 0],
    ["86401", 24 * hourMs],
    ["999999999", 24 * hourMs],
    ["Mon, 01 Jun 2026 12:10:00 GMT", 600_000],
    ["Mon, 01 Jun 2026 11:00:00 GMT", 0],
    ["Tue, 01 Jun 2027 12:00:00 GMT", 24 * hourMs],
    ["Monday, 01-Jun-26 12:10:00 GMT", 600_000],
    ["99999999999999999999", null],
    ["-5", null],
    ["1.5", null],
    ["soon", null],
    ["2026", 2_026_000],
    ["", null],
    [undefined, null],
  ] as const)
    it(`reads ${header}`, () => {
      assert.equal(parseRetryAfter(header, now), expected);
    });
});
