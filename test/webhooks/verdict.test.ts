import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AttemptResult } from "../../src/webhooks/attempt.ts";
import type { HealthState, DeliveryOutcome } from "../../src/webhooks/subscription-health.ts";
import { healthyState } from "../../src/webhooks/subscription-health.ts";
import { judgeAttempts } from "../../src/webhooks/verdict.ts";

const hour = 3_600_000;
const clock = { random: () => 0.5, pace: 1 };
const failed: DeliveryOutcome = { kind: "failed", reason: "The response was 500." };

/** An attempt at a delivery that has failed so often before. */
const attempted = (
  outcome: DeliveryOutcome | null,
  failures = 0,
  retryAfterMs: number | null = null,
  is_early = false,
): AttemptResult => ({
  delivery: {
    ...{ subscription_id: "s", entity_id: "e", claim: "c", failures, delivery_id: "d", event_id: "i" },
    ...{ topic: "order.created", body: { data: {} }, url: "https://example.com/", api_version: "unstable" },
    ...{
      payload_query: null,
      credential_id: null,
      scopes: [],
      withheld: null,
      secrets: [],
      secret_ids: [],
      is_early,
      traceparent: null,
      following: null,
    },
  },
  outcome,
  attempt:
    outcome?.kind === "withheld"
      ? null
      : {
          ...{ at: "2026-06-01T12:00:00Z", duration_ms: 1, status: null, error: null },
          ...{ request_headers: {}, response_headers: null, response_body: null },
        },
  retryAfterMs,
});

function verdictOn(attempts: AttemptResult[], before: HealthState = healthyState, now = 0) {
  const { results, states } = judgeAttempts(attempts, new Map([["s", before]]), now, clock, () => true);
  const short = results.map(({ state, tried, counted, delay_ms, go_on }) => ({
    state,
    tried,
    counted,
    delay_ms,
    go_on,
  }));
  return { results: short, state: states[0]! };
}

describe("the verdict on an attempt", () => {
  it("that succeeded: the queue continues", () => {
    const { results, state } = verdictOn([attempted({ kind: "delivered" }, 3)]);
    assert.deepEqual(results, [
      { state: "delivered", tried: true, counted: false, delay_ms: 0, go_on: true },
    ]);
    assert.deepEqual([state.health, state.probe_after_ms, state.hurry], ["HEALTHY", null, false]);
  });

  it("that failed: it is tried again by the schedule, or when the receiver wants it", () => {
    const again = { state: "pending", tried: true, counted: true, go_on: false };
    assert.deepEqual(verdictOn([attempted(failed)]).results, [{ ...again, delay_ms: 5_000 }]);
    assert.deepEqual(verdictOn([attempted(failed, 8)]).results, [{ ...again, delay_ms: 24 * hour }]);
    assert.deepEqual(verdictOn([attempted(failed, 0, 60_000)]).results, [{ ...again, delay_ms: 63_000 }]);
  });

  it("that was the tenth: it is given up, and the queue continues", () => {
    const { results } = verdictOn([attempted(failed, 9)]);
    assert.deepEqual(results, [{ state: "failed", tried: true, counted: false, delay_ms: 0, go_on: true }]);
  });

  it("that failed while nothing gets through: it doesn't count, and one is tried later", () => {
    const before = { ...healthyState, failures: 20, failingSince: -24 * hour };
    const { results, state } = verdictOn([attempted(failed, 9)], before);
    assert.deepEqual(results, [
      { state: "pending", tried: true, counted: false, delay_ms: 5_000, go_on: false },
    ]);
    assert.deepEqual([state.health, state.probe_after_ms], ["SUSPENDED", hour / 4]);
  });

  it("that got through after a long time: all that waits is tried at once", () => {
    const before = { ...healthyState, health: "DEGRADED" as const, failures: 5, failingSince: -hour };
    assert.equal(verdictOn([attempted({ kind: "delivered" })], before).state.hurry, true);
    // Also when a failure comes at the same time
    assert.equal(verdictOn([attempted({ kind: "delivered" }), attempted(failed)], before).state.hurry, true);
  });

  it("that was answered 410: it waits, and the queue stops", () => {
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
    assert.deepEqual(results, [
      { state: "pending", tried: false, counted: false, delay_ms: 0, go_on: false },
    ]);
    assert.deepEqual(
      [state.health, state.reason, state.probe_after_ms],
      ["SUSPENDED", "No scope.", hour / 4],
    );
  });

  it("whose payload could not be read: it counts, but not against the receiver", () => {
    const { results, state } = verdictOn([attempted(null)]);
    assert.deepEqual(results, [
      { state: "pending", tried: true, counted: true, delay_ms: 5_000, go_on: false },
    ]);
    assert.deepEqual([state.health, state.failures], ["HEALTHY", 0]);
  });

  it("whose payload took too much: it counts for nothing, and the subscription pauses", () => {
    const costly: DeliveryOutcome = { kind: "costly", reason: "It took too long." };
    const { results, state } = verdictOn([attempted(costly, 9)]);
    assert.deepEqual(results, [
      { state: "pending", tried: true, counted: false, delay_ms: 10_000, go_on: false },
    ]);
    assert.deepEqual([state.payload_failures, state.paused_for_ms, state.stays_paused], [1, 10_000, false]);
    const again = verdictOn([attempted(costly)], { ...healthyState, payloadFailures: 5 });
    assert.deepEqual([again.state.health, again.state.paused_for_ms], ["SUSPENDED", hour / 4]);
    const well = verdictOn([attempted({ kind: "delivered" })], { ...healthyState, payloadFailures: 1 }).state;
    assert.deepEqual([well.payload_failures, well.paused_for_ms, well.stays_paused], [0, null, false]);
    assert.equal(well.hurry, true);
  });

  it("for whose payload there were too few points: it waits for these", () => {
    const unpaid: DeliveryOutcome = { kind: "unpaid", reason: "There are too few." };
    const { results, state } = verdictOn([attempted(unpaid, 0, 42_000)]);
    assert.deepEqual([results[0]!.delay_ms, state.paused_for_ms], [42_000, 42_000]);
    assert.equal(verdictOn([attempted(unpaid, 0, 0)]).state.paused_for_ms, 1_000);
  });

  it("that was given back: pauses stay as they were", () => {
    const untried = { ...attempted(null), attempt: null };
    const { results, state } = verdictOn([untried], { ...healthyState, payloadFailures: 2 });
    assert.deepEqual(results, [
      { state: "pending", tried: false, counted: false, delay_ms: 0, go_on: false },
    ]);
    assert.deepEqual([state.payload_failures, state.stays_paused], [2, true]);
    assert.equal(verdictOn([{ ...untried, retryAfterMs: 5_000 }]).results[0]!.delay_ms, 5_000);
  });

  it("that was made early and failed: it comes again when it was to come, and isn't counted", () => {
    const before = { ...healthyState, health: "DEGRADED" as const, failures: 5, failingSince: -hour };
    const { results, state } = verdictOn([attempted(failed, 3, null, true)], before);
    assert.deepEqual(results, [
      { state: "pending", tried: true, counted: false, delay_ms: null, go_on: false },
    ]);
    assert.equal(state.probe_after_ms, hour / 12);
    const asked = verdictOn([attempted(failed, 3, 2 * hour, true)], before);
    assert.deepEqual([asked.results[0]!.delay_ms, asked.state.probe_after_ms], [2 * hour, 2 * hour]);
  });

  it("of a subscription that is gone: there is nothing to note", () => {
    assert.deepEqual(
      judgeAttempts([attempted(failed)], new Map(), 0, clock, () => true),
      { results: [], states: [] },
    );
  });
});
