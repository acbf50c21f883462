import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HealthState, Outcome } from "../../src/webhooks/health.ts";
import { healthAfter, isBack, wellState } from "../../src/webhooks/health.ts";

const hour = 3_600_000;
const failed: Outcome = { kind: "failed", reason: "The answer was 503." };
const withheld: Outcome = { kind: "withheld", reason: "The credential is deactivated." };

/** The state after outcomes that come one by one, so many hours apart. */
function after(outcomes: Outcome[], apart = 0, state: HealthState = wellState): HealthState {
  return outcomes.reduce(
    (current, outcome, index) => healthAfter(current, outcome, index * apart * hour),
    state,
  );
}
const times = (count: number, outcome: Outcome): Outcome[] => Array.from({ length: count }, () => outcome);

describe("the health of a subscription", () => {
  it("stays as it is with success", () => assert.deepEqual(after([{ kind: "delivered" }]), wellState));

  it("bears two failures, and is degraded by the third", () => {
    assert.equal(after(times(2, failed)).health, "HEALTHY");
    assert.deepEqual(after(times(3, failed)), {
      health: "DEGRADED",
      reason: "The last 3 attempts failed. The last failure: The answer was 503.",
      failures: 3,
      failingSince: 0,
    });
  });

  it("counts failures in a row only", () => {
    assert.equal(after([failed, failed, { kind: "delivered" }, failed, failed]).health, "HEALTHY");
  });

  it("is suspended after a day without success, and not before", () => {
    assert.equal(after(times(24, failed), 1).health, "DEGRADED");
    const suspended = after(times(25, failed), 1);
    assert.equal(suspended.health, "SUSPENDED");
    assert.equal(
      suspended.reason,
      "No delivery has succeeded for 24 hours. The last failure: The answer was 503.",
    );
    assert.equal(healthAfter(suspended, failed, 100 * hour).health, "SUSPENDED");
  });

  it("recovers with the first success, wherever it was", () => {
    for (const earlier of [times(3, failed), [withheld]])
      assert.deepEqual(after([...earlier, { kind: "delivered" }]), wellState);
    assert.deepEqual(after([...times(30, failed), { kind: "delivered" }], 1), wellState);
  });

  it("is disabled by a 410, for good", () => {
    const gone = after([{ kind: "gone" }]);
    assert.deepEqual([gone.health, gone.reason], ["DISABLED", "The receiver answered 410 Gone."]);
    for (const late of [{ kind: "delivered" } as const, failed, withheld])
      assert.deepEqual(healthAfter(gone, late, 0), gone);
  });

  it("is suspended while nothing may be sent, which is no failure of the receiver", () => {
    const state = after([failed, failed, withheld]);
    assert.deepEqual(state, {
      health: "SUSPENDED",
      reason: withheld.reason,
      failures: 0,
      failingSince: null,
    });
    assert.deepEqual(healthAfter(state, failed, 7), {
      health: "DEGRADED",
      reason: "The last attempt failed. The last failure: The answer was 503.",
      failures: 1,
      failingSince: 7,
    });
  });

  it("tells when all that waits is to be tried at once: after half an hour without success", () => {
    const degraded = after(times(3, failed));
    assert.equal(isBack(degraded, wellState, hour / 2), true);
    assert.equal(isBack(degraded, wellState, hour / 2 - 1), false);
    assert.equal(isBack(degraded, healthAfter(degraded, failed, hour), hour), false);
    assert.equal(isBack(after([withheld]), wellState, 1), true);
    assert.equal(isBack(after([failed]), wellState, hour), false);
  });
});
