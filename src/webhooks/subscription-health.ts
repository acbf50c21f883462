export type Health = "HEALTHY" | "DEGRADED" | "SUSPENDED" | "DISABLED";

/** Health of a subscription. */
export interface HealthState {
  health: Health;
  /** The reason, for the subscriber; null while it is healthy. */
  reason: string | null;
  /** Attempts that have failed since the last success. */
  failures: number;
  /** Time of the first of these, in milliseconds since 1970. */
  failingSince: number | null;
  /** How many times in a row its payloadQuery exceeded a limit. */
  payloadFailures: number;
}

/** The result of an attempt that matters for the subscription's health. */
export type DeliveryOutcome =
  | { kind: "delivered" }
  /** The receiver responded with an error, or not at all. */
  | { kind: "failed"; reason: string }
  /** The receiver responded with 410: it wants no more messages. */
  | { kind: "gone" }
  /** Nothing was sent, for a reason on our side. */
  | { kind: "withheld"; reason: string }
  /** Nothing was sent, because the payloadQuery exceeded a limit, or its API credential had too few points. */
  | { kind: "costly" | "unpaid"; reason: string };

export const healthyState: HealthState = {
  health: "HEALTHY",
  reason: null,
  failures: 0,
  failingSince: null,
  payloadFailures: 0,
};

/** Consecutive failures after which a subscription is degraded. */
const degradedAfterFailures = 3;
/** Milliseconds without success after which it is suspended. */
const suspendedAfterMs = 24 * 60 * 60 * 1_000;

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/**
 * Milliseconds without success after which a success makes all waiting messages due. The schedule's first longer pause is as
 * long.
 */
const longOutageMs = 5 * minuteMs;

/** Milliseconds between probes of a suspended subscription. */
const probeIntervalMs = 15 * minuteMs;
/** Milliseconds between probes of a degraded subscription when nothing else is due. */
const earlyProbeMs = 5 * minuteMs;

/** Milliseconds for which a subscription pauses after its payloadQuery exceeded a limit once, twice and so on. */
const payloadPausesMs: readonly number[] = [10 * secondMs, minuteMs, 5 * minuteMs, probeIntervalMs];
/** Consecutive failures of its payloadQuery after which a subscription is suspended. */
const suspendedAfterPayloadFailures = 5;

/**
 * Returns the state after an attempt. A subscription recovers at the first success. After a 410, someone must enable
 * it again.
 *
 * @param now in milliseconds since 1970
 */
export function healthAfter(state: HealthState, outcome: DeliveryOutcome, now: number): HealthState {
  // An attempt that began before the 410 doesn't enable it again
  if (state.health === "DISABLED") return state;
  switch (outcome.kind) {
    case "delivered":
      return healthyState;
    case "gone":
      return { ...state, health: "DISABLED", reason: "The receiver responded with 410 Gone." };
    case "withheld":
      return { ...healthyState, health: "SUSPENDED", reason: outcome.reason };
    case "failed":
      return deliveryFailed(state, outcome.reason, now);
    case "costly":
    case "unpaid":
      return payloadFailed(state, outcome);
  }
}

/** Returns the milliseconds until the next probe of the receiver, independent of the schedule; null while healthy. */
export function probeAfterMs({ health }: HealthState): number | null {
  if (health === "SUSPENDED") return probeIntervalMs;
  return health === "DEGRADED" ? earlyProbeMs : null;
}

/** Returns the milliseconds of the pause after its payloadQuery exceeded a limit; null if it didn't. */
export function pauseAfterMs({ payloadFailures: count }: HealthState): number | null {
  return count === 0 ? null : payloadPausesMs[Math.min(count, payloadPausesMs.length) - 1]!;
}

/** Returns the state after a failed payloadQuery. It costs time even though nothing is sent, so it runs less and less often. */
function payloadFailed(
  state: HealthState,
  { kind, reason }: { kind: "costly" | "unpaid"; reason: string },
): HealthState {
  const payloadFailures = state.payloadFailures + 1;
  const next = { ...state, payloadFailures };
  if (payloadFailures < degradedAfterFailures) return next;
  const words = `The payload could not be read ${payloadFailures} times in a row, so the payloadQuery is run less often. Waiting messages are kept.`;
  // A lack of points doesn't suspend it: the bucket refills by itself
  const isSuspended =
    state.health === "SUSPENDED" || (kind === "costly" && payloadFailures >= suspendedAfterPayloadFailures);
  return {
    ...next,
    health: isSuspended ? "SUSPENDED" : "DEGRADED",
    reason: `${words} The last failure: ${reason}`,
  };
}

function deliveryFailed(state: HealthState, reason: string, now: number): HealthState {
  const failures = state.failures + 1;
  const failingSince = state.failingSince ?? now;
  const next = { failures, failingSince, payloadFailures: 0 };
  if (now - failingSince >= suspendedAfterMs) {
    const words = `No delivery has succeeded for 24 hours. The last failure: ${reason}`;
    return { ...next, health: "SUSPENDED", reason: words };
  }
  // It was suspended or paused for another reason, which is gone, because a message was sent
  const wasKept = state.health === "SUSPENDED" || (state.health === "DEGRADED" && state.payloadFailures > 0);
  if (failures < degradedAfterFailures && !wasKept) return { ...state, ...next };
  const words = failures === 1 ? "The last attempt failed." : `The last ${failures} attempts failed.`;
  return { ...next, health: "DEGRADED", reason: `${words} The last failure: ${reason}` };
}

/**
 * Whether to try all waiting messages at once: the receiver works again after a longer outage, so they needn't wait for
 * the schedule.
 */
export function hasRecovered(before: HealthState, after: HealthState, now: number): boolean {
  if (after.health !== "HEALTHY" || after.failures > 0 || after.payloadFailures > 0) return false;
  if (before.payloadFailures > 0) return true;
  if (before.health === "HEALTHY") return false;
  return before.failingSince === null || now - before.failingSince >= longOutageMs;
}
