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
}

/** What became of an attempt, as far as the receiver is concerned. */
export type Outcome =
  | { kind: "delivered" }
  /** It answered something else than success, or not at all. */
  | { kind: "failed"; reason: string }
  /** It answered 410: it wants no more. */
  | { kind: "gone" }
  /** Nothing was sent, for a reason that lies on our side. */
  | { kind: "withheld"; reason: string };

export const wellState: HealthState = { health: "HEALTHY", reason: null, failures: 0, failingSince: null };

/** Failures in a row from which on a subscription is degraded. */
const tolerated = 3;
/** Milliseconds without success after which it is suspended. */
const suspendedAfter = 24 * 60 * 60 * 1_000;

/** Milliseconds without success that make it worth to try all at once afterwards. */
const longOutage = 30 * 60 * 1_000;

/** Milliseconds between the attempts by which a suspended subscription is probed. */
export const probeInterval = 15 * 60 * 1_000;

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
  }
}

function failed(state: HealthState, reason: string, now: number): HealthState {
  const failures = state.failures + 1;
  const failingSince = state.failingSince ?? now;
  const next = { failures, failingSince };
  if (now - failingSince >= suspendedAfter) {
    const words = `No delivery has succeeded for 24 hours. The last failure: ${reason}`;
    return { ...next, health: "SUSPENDED", reason: words };
  }
  // What was suspended has been tried again, since what kept us from sending is gone
  if (failures < tolerated && state.health !== "SUSPENDED") return { ...state, ...next };
  const words = failures === 1 ? "The last attempt failed." : `The last ${failures} attempts failed.`;
  return { ...next, health: "DEGRADED", reason: `${words} The last failure: ${reason}` };
}

/**
 * Whether all that waits is to be tried at once: the receiver is back after a longer time in which nothing got through,
 * and nobody should wait for the next attempt by the schedule.
 */
export function isBack(before: HealthState, after: HealthState, now: number): boolean {
  if (after.health !== "HEALTHY" || before.health === "HEALTHY") return false;
  return before.failingSince === null || now - before.failingSince >= longOutage;
}
