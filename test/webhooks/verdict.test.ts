import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Attempted } from "../../src/webhooks/attempt.ts";
import type { HealthState, Outcome } from "../../src/webhooks/health.ts";
import { wellState } from "../../src/webhooks/health.ts";
import { judge } from "../../src/webhooks/verdict.ts";

const hour = 3_600_000;
const clock = { random: () => 0.5, pace: 1 };
const failed: Outcome = { kind: "failed", reason: "The answer was 500." };

/** An attempt to deliver something that has failed so often before. */
const attempted = (outcome: Outcome | null, failures = 0, wish: number | null = null): Attempted => ({
  delivery: {
    ...{ subscription_id: "s", entity_id: "e", claim: "c", failures, delivery_id: "d", event_id: "i" },
    ...{ topic: "order.created", body: { data: {} }, url: "https://example.com/", api_version: "unstable" },
    ...{ payload_query: null, credential_id: null, scopes: [], withheld: null, secrets: [] },
  },
  outcome,
  attempt:
    outcome?.kind === "withheld"
      ? null
      : {
          ...{ at: "2026-06-01T12:00:00Z", duration_ms: 1, status: null, error: null },
          ...{ request_headers: {}, response_headers: null, response_body: null },
        },
  wish,
});

function verdictOn(attempts: Attempted[], before: HealthState = wellState, now = 0) {
  const { results, states } = judge(attempts, new Map([["s", before]]), now, clock, () => true);
  const short = results.map(({ state, tried, counted, delay, go_on }) => ({
    state,
    tried,
    counted,
    delay,
    go_on,
  }));
  return { results: short, state: states[0]! };
}

describe("the verdict on an attempt", () => {
  it("that succeeded: the lane goes on", () => {
    const { results, state } = verdictOn([attempted({ kind: "delivered" }, 3)]);
    assert.deepEqual(results, [{ state: "delivered", tried: true, counted: false, delay: 0, go_on: true }]);
    assert.deepEqual([state.health, state.probe_after, state.hurry], ["HEALTHY", null, false]);
  });

  it("that failed: it is tried again by the schedule, or when the receiver wants it", () => {
    const again = { state: "pending", tried: true, counted: true, go_on: false };
    assert.deepEqual(verdictOn([attempted(failed)]).results, [{ ...again, delay: 5_000 }]);
    assert.deepEqual(verdictOn([attempted(failed, 8)]).results, [{ ...again, delay: 24 * hour }]);
    assert.deepEqual(verdictOn([attempted(failed, 0, 60_000)]).results, [{ ...again, delay: 63_000 }]);
  });

  it("that was the tenth: it is given up, and the lane goes on", () => {
    const { results } = verdictOn([attempted(failed, 9)]);
    assert.deepEqual(results, [{ state: "failed", tried: true, counted: false, delay: 0, go_on: true }]);
  });

  it("that failed while nothing gets through: it doesn't count, and one is tried later", () => {
    const before = { ...wellState, failures: 20, failingSince: -24 * hour };
    const { results, state } = verdictOn([attempted(failed, 9)], before);
    assert.deepEqual(results, [
      { state: "pending", tried: true, counted: false, delay: 5_000, go_on: false },
    ]);
    assert.deepEqual([state.health, state.probe_after], ["SUSPENDED", hour / 4]);
  });

  it("that got through after a long time: all that waits is tried at once", () => {
    const before = { ...wellState, health: "DEGRADED" as const, failures: 5, failingSince: -hour };
    assert.equal(verdictOn([attempted({ kind: "delivered" })], before).state.hurry, true);
    // Also when a failure comes in the same breath
    assert.equal(verdictOn([attempted({ kind: "delivered" }), attempted(failed)], before).state.hurry, true);
  });

  it("that was answered 410: it waits, and nothing goes on", () => {
    const { results, state } = verdictOn([attempted({ kind: "gone" }), attempted({ kind: "delivered" })]);
    assert.deepEqual(
      results.map((result) => [result.state, result.go_on]),
      [
        ["pending", false],
        ["delivered", false],
      ],
    );
    assert.equal(state.health, "DISABLED");
  });

  it("that was not made: nothing but the health changes", () => {
    const { results, state } = verdictOn([attempted({ kind: "withheld", reason: "No scope." }, 4)]);
    assert.deepEqual(results, [{ state: "pending", tried: false, counted: false, delay: 0, go_on: false }]);
    assert.deepEqual([state.health, state.reason, state.probe_after], ["SUSPENDED", "No scope.", hour / 4]);
  });

  it("whose payload could not be read: it counts, but not against the receiver", () => {
    const { results, state } = verdictOn([attempted(null)]);
    assert.deepEqual(results, [{ state: "pending", tried: true, counted: true, delay: 5_000, go_on: false }]);
    assert.deepEqual([state.health, state.failures], ["HEALTHY", 0]);
  });

  it("of a subscription that is gone: there is nothing to note", () => {
    assert.deepEqual(
      judge([attempted(failed)], new Map(), 0, clock, () => true),
      { results: [], states: [] },
    );
  });
});
