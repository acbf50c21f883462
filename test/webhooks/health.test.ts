import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HealthState, DeliveryOutcome } from "../../src/webhooks/subscription-health.ts";
import {
  healthAfter,
  hasRecovered,
  pauseAfterMs,
  probeAfterMs,
  healthyState,
} from "../../src/webhooks/subscription-health.ts";

const hour = 3_600_000;
const failed: DeliveryOutcome = { kind: "failed", reason: "The response was 503." };
const withheld: DeliveryOutcome = { kind: "withheld", reason: "The credential is deactivated." };

/** The state after outcomes that come one by one, so many hours apart. */
function after(outcomes: DeliveryOutcome[], apart = 0, state: HealthState = healthyState): HealthState {
  return outcomes.reduce(
    (current, outcome, index) => healthAfter(current, outcome, index * apart * hour),
    state,
  );
}
const times = (count: number, outcome: DeliveryOutcome): DeliveryOutcome[] =>
  Array.from({ length: count }, () => outcome);

describe("the health of a subscription", () => {
  it("stays as it is with success", () => assert.deepEqual(after([{ kind: "delivered" }]), healthyState));

  it("bears two failures, and is degraded by the third", () => {
    assert.equal(after(times(2, failed)).health, "HEALTHY");
    assert.deepEqual(after(times(3, failed)), {
      health: "DEGRADED",
      reason: "The last 3 attempts failed. The last failure: The response was 503.",
      failures: 3,
      failingSince: 0,
      payloadFailures: 0,
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
      "No delivery has succeeded for 24 hours. The last failure: The response was 503.",
    );
    assert.equal(healthAfter(suspended, failed, 100 * hour).health, "SUSPENDED");
  });

  it("recovers with the first success, from any state", () => {
    for (const earlier of [times(3, failed), [withheld]])
      assert.deepEqual(after([...earlier, { kind: "delivered" }]), healthyState);
    assert.deepEqual(after([...times(30, failed), { kind: "delivered" }], 1), healthyState);
  });

  it("is disabled by a 410, for good", () => {
    const gone = after([{ kind: "gone" }]);
    assert.deepEqual([gone.health, gone.reason], ["DISABLED", "The receiver responded with 410 Gone."]);
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
      payloadFailures: 0,
    });
    assert.deepEqual(healthAfter(state, failed, 7), {
      health: "DEGRADED",
      reason: "The last attempt failed. The last failure: The response was 503.",
      failures: 1,
      failingSince: 7,
      payloadFailures: 0,
    });
  });

  it("tells when all that waits is to be tried at once: after five minutes without success", () => {
    const degraded = after(times(3, failed));
    assert.equal(hasRecovered(degraded, healthyState, hour / 12), true);
    assert.equal(hasRecovered(degraded, healthyState, hour / 12 - 1), false);
    assert.equal(hasRecovered(degraded, healthAfter(degraded, failed, hour), hour), false);
    assert.equal(hasRecovered(after([withheld]), healthyState, 1), true);
    assert.equal(hasRecovered(after([failed]), healthyState, hour), false);
  });

  it("tells when to probe the receiver, outside of the schedule", () => {
    assert.equal(probeAfterMs(healthyState), null);
    assert.equal(probeAfterMs(after(times(3, failed))), hour / 12);
    assert.equal(probeAfterMs(after([withheld])), hour / 4);
    assert.equal(probeAfterMs(after([{ kind: "gone" }])), null);
  });
});

describe("a payloadQuery that takes too much", () => {
  const costly: DeliveryOutcome = { kind: "costly", reason: "It took too long." };
  const unpaid: DeliveryOutcome = { kind: "unpaid", reason: "There are too few points." };

  it("is borne twice, then degrades its subscription, then suspends it, and says why", () => {
    assert.deepEqual(after(times(2, costly)), { ...healthyState, payloadFailures: 2 });
    const degraded = after(times(3, costly));
    assert.equal(degraded.health, "DEGRADED");
    assert.match(
      degraded.reason!,
      /^The payload could not be read 3 times in a row, .*: It took too long\.$/,
    );
    assert.equal(after(times(4, costly)).health, "DEGRADED");
    assert.equal(after(times(5, costly)).health, "SUSPENDED");
    assert.deepEqual([degraded.failures, degraded.failingSince], [0, null]);
  });

  it("is tried less and less often", () => {
    const pauses = [0, 1, 2, 3, 4, 9].map((count) => pauseAfterMs(after(times(count, costly))));
    assert.deepEqual(pauses, [null, 10_000, 60_000, 300_000, 900_000, 900_000]);
  });

  it("whose token has no points left isn't suspended: they come back", () => {
    assert.equal(after(times(20, unpaid)).health, "DEGRADED");
  });

  it("is forgotten as soon as a payload could be read, whatever the receiver answers", () => {
    const suspended = after(times(6, costly));
    assert.deepEqual(healthAfter(suspended, { kind: "delivered" }, 0), healthyState);
    assert.equal(hasRecovered(suspended, healthyState, 0), true);
    assert.equal(hasRecovered(after([costly]), healthyState, 0), true);
    assert.equal(hasRecovered(after([costly]), after([costly, failed]), 0), false);
    for (const count of [3, 6]) {
      const refused = healthAfter(after(times(count, costly)), failed, 7);
      assert.deepEqual(
        [refused.health, refused.reason, refused.payloadFailures],
        ["DEGRADED", "The last attempt failed. The last failure: The response was 503.", 0],
      );
    }
  });

  it("leaves alone what was disabled", () => {
    assert.equal(after([{ kind: "gone" }, ...times(9, costly)]).health, "DISABLED");
  });
});
