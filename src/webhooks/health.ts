export type Health = "HEALTHY" | "DEGRADED" | "SUSPENDED" | "DISABLED";

/** How a subscription is doing. */
export interface HealthState {
  health: Health;
  /** Why, for whoever subscribed; null while it is healthy. */
  reason: string | null;
  /** Attempts that have failed since the last success. */
  failures: number;
  /** When the first of these was, in milliseconds since 1970. */
  failingSince: number | null;
  /** How often in a row its payloadQuery took too much. */
  payloadFailures: number;
}

/** What became of an attempt, as far as the receiver is concerned. */
export type Outcome =
  | { kind: "delivered" }
  /** It answered something else than success, or not at all. */
  | { kind: "failed"; reason: string }
  /** It answered 410: it wants no more. */
  | { kind: "gone" }
  /** Nothing was sent, for a reason that lies on our side. */
  | { kind: "withheld"; reason: string }
  /** Nothing was sent, since its payloadQuery took too much, or its token had too few points left for it. */
  | { kind: "costly" | "unpaid"; reason: string };

export const wellState: HealthState = {
  ...{ health: "HEALTHY", reason: null, failures: 0, failingSince: null, payloadFailures: 0 },
};

/** Failures in a row from which on a subscription is degraded. */
const tolerated = 3;
/** Milliseconds without success after which it is suspended. */
const suspendedAfterMs = 24 * 60 * 60 * 1_000;

const secondMs = 1_000;
const minuteMs = 60 * secondMs;

/** Milliseconds without success that make it worth to try all at once afterwards: the first longer pause of the schedule. */
const longOutageMs = 5 * minuteMs;

/** Milliseconds between the attempts by which a suspended subscription is probed. */
const probeIntervalMs = 15 * minuteMs;
/** Milliseconds after which a degraded subscription is probed when its schedule has nothing else. */
const earlyProbeMs = 5 * minuteMs;

/** Milliseconds that a subscription pauses after its payloadQuery has taken too much once, twice and so on. */
const payloadPausesMs: readonly number[] = [10 * secondMs, minuteMs, 5 * minuteMs, probeIntervalMs];
/** Payload queries in a row that took too much, from which on a subscription is suspended. */
const suspendedByPayload = 5;

/**
 * The state after an attempt. A subscription recovers by itself with the first success, except after a 410: then
 * somebody has to enable it again.
 *
 * @param now in milliseconds since 1970
 */
export function healthAfter(state: HealthState, outcome: Outcome, now: number): HealthState {
  // An attempt that was under way when the receiver ended it all doesn't bring it back
  if (state.health === "DISABLED") return state;
  switch (outcome.kind) {
    case "delivered":
      return wellState;
    case "gone":
      return { ...state, health: "DISABLED", reason: "The receiver answered 410 Gone." };
    case "withheld":
      return { ...wellState, health: "SUSPENDED", reason: outcome.reason };
    case "failed":
      return failed(state, outcome.reason, now);
    case "costly":
    case "unpaid":
      return unread(state, outcome);
  }
}

/** Milliseconds until it is tried whether the receiver is back, whatever the schedule says; null while it is well. */
export function probeAfter({ health }: HealthState): number | null {
  if (health === "SUSPENDED") return probeIntervalMs;
  return health === "DEGRADED" ? earlyProbeMs : null;
}

/** Milliseconds that nothing is sent, since the payloadQuery took too much; null when it didn't. */
export function pauseAfter({ payloadFailures: count }: HealthState): number | null {
  return count === 0 ? null : payloadPausesMs[Math.min(count, payloadPausesMs.length) - 1]!;
}

/** It takes its time even when nothing is sent, and again at each attempt: so it is tried less and less often. */
function unread(
  state: HealthState,
  { kind, reason }: { kind: "costly" | "unpaid"; reason: string },
): HealthState {
  const payloadFailures = state.payloadFailures + 1;
  const next = { ...state, payloadFailures };
  if (payloadFailures < tolerated) return next;
  const words = `The payload could not be read ${payloadFailures} times in a row, so the payloadQuery is run less often. What waits is kept.`;
  // Points come back by themselves
  const isSuspended =
    state.health === "SUSPENDED" || (kind === "costly" && payloadFailures >= suspendedByPayload);
  return {
    ...next,
    health: isSuspended ? "SUSPENDED" : "DEGRADED",
    reason: `${words} The last failure: ${reason}`,
  };
}

function failed(state: HealthState, reason: string, now: number): HealthState {
  const failures = state.failures + 1;
  const failingSince = state.failingSince ?? now;
  const next = { failures, failingSince, payloadFailures: 0 };
  if (now - failingSince >= suspendedAfterMs) {
    const words = `No delivery has succeeded for 24 hours. The last failure: ${reason}`;
    return { ...next, health: "SUSPENDED", reason: words };
  }
  // What was suspended or paused has been tried again, since what kept us from sending is gone
  const wasKept = state.health === "SUSPENDED" || (state.health === "DEGRADED" && state.payloadFailures > 0);
  if (failures < tolerated && !wasKept) return { ...state, ...next };
  const words = failures === 1 ? "The last attempt failed." : `The last ${failures} attempts failed.`;
  return { ...next, health: "DEGRADED", reason: `${words} The last failure: ${reason}` };
}

/**
 * Whether all that waits is to be tried at once: the receiver is back after a longer time in which nothing got through,
 * and nobody should wait for the next attempt by the schedule.
 */
export function isBack(before: HealthState, after: HealthState, now: number): boolean {
  if (after.health !== "HEALTHY" || after.failures > 0 || after.payloadFailures > 0) return false;
  if (before.payloadFailures > 0) return true;
  if (before.health === "HEALTHY") return false;
  return before.failingSince === null || now - before.failingSince >= longOutageMs;
}
