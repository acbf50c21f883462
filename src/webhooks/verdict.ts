import type { AttemptResult } from "./attempt.ts";
import { healthAfter, hasRecovered, pauseAfterMs, probeAfterMs } from "./subscription-health.ts";
import type { HealthState } from "./subscription-health.ts";
import type { NextState, DeliveryResult } from "./delivery-queues.ts";
import type { RetryClock } from "./retry-schedule.ts";
import { delayMsAfter } from "./retry-schedule.ts";

/** Minimum pause of a subscription that has too few points for its payloadQuery, in milliseconds. */
const minPauseMs = 1_000;

/**
 * Computes the changes to store after attempts: results of deliveries and states of subscriptions.
 *
 * @param before health of the subscriptions before. Attempts of missing subscriptions, which were deleted, are left out
 * @param goesOn whether this process keeps the queue for its next delivery
 */
export function judgeAttempts(
  attempts: AttemptResult[],
  before: Map<string, HealthState>,
  now: number,
  clock: RetryClock,
  goesOn: (attempted: AttemptResult) => boolean,
): { results: DeliveryResult[]; states: NextState[] } {
  const after = new Map<string, StateAfter>();
  for (const [id, state] of before) after.set(id, { state, pause: null, hurry: false });
  const results: DeliveryResult[] = [];
  for (const attempted of attempts) {
    const { outcome, delivery } = attempted;
    const known = after.get(delivery.subscription_id);
    if (!known) continue;
    if (outcome) {
      const { state } = known;
      known.state = healthAfter(state, outcome, now);
      known.pause = computePause(attempted, known.state, clock);
      known.hurry ||= hasRecovered(state, known.state, now);
    }
    results.push(deliveryResult(attempted, known.state, clock, goesOn(attempted)));
  }
  return { results, states: [...after].map(([id, known]) => nextState(id, known, clock)) };
}

/** A subscription after attempts. */
interface StateAfter {
  state: HealthState;
  /** Null when nothing was sent. */
  pause: Pause | null;
  /** Whether to try all waiting messages at once. */
  hurry: boolean;
}

/** Pause of the subscription, and time until a probe, in milliseconds. */
interface Pause {
  pausedForMs: number | null;
  /** The delay that the receiver requested. */
  probedAfterMs: number;
}

function computePause(
  { outcome, retryAfterMs }: AttemptResult,
  state: HealthState,
  { pace }: RetryClock,
): Pause {
  if (outcome?.kind === "unpaid")
    return { pausedForMs: Math.max(retryAfterMs ?? 0, minPauseMs), probedAfterMs: 0 };
  const pause = outcome?.kind === "costly" ? pauseAfterMs(state) : null;
  return { pausedForMs: pause === null ? null : Math.round(pause * pace), probedAfterMs: retryAfterMs ?? 0 };
}

function nextState(id: string, { state, pause, hurry }: StateAfter, { pace }: RetryClock): NextState {
  const { health, reason, failures, failingSince, payloadFailures } = state;
  const probe = probeAfterMs(state);
  return {
    id,
    health,
    reason,
    failures,
    failing_since: failingSince === null ? null : new Date(failingSince).toISOString(),
    probe_after_ms: probe === null ? null : Math.max(Math.round(probe * pace), pause?.probedAfterMs ?? 0),
    payload_failures: payloadFailures,
    paused_for_ms: pause?.pausedForMs ?? null,
    stays_paused: pause === null,
    hurry,
  };
}

function deliveryResult(
  attempted: AttemptResult,
  state: HealthState,
  clock: RetryClock,
  goOn: boolean,
): DeliveryResult {
  const { delivery, outcome, attempt, retryAfterMs } = attempted;
  const { delivery_id, subscription_id, entity_id, claim, failures, is_early } = delivery;
  const named = { delivery: delivery_id, subscription: subscription_id, entity: entity_id, claim };
  const result = { ...named, attempt, tried: attempt !== null };
  const isOpen = state.health === "HEALTHY" || state.health === "DEGRADED";
  if (outcome?.kind === "delivered")
    return { ...result, state: "delivered", counted: false, delay_ms: 0, go_on: goOn && isOpen };
  const waits = (delay_ms: number | null): DeliveryResult => ({
    ...result,
    state: "pending",
    counted: false,
    delay_ms,
    go_on: false,
  });
  if (attempt === null) return waits(retryAfterMs ?? 0);
  // A failed payloadQuery says nothing about the message
  if (outcome?.kind === "costly" || outcome?.kind === "unpaid")
    return waits(computePause(attempted, state, clock).pausedForMs);
  // While a subscription is suspended, probes don't count towards giving up on the message
  if (!isOpen) return waits(delayMsAfter(1, retryAfterMs, clock));
  // Attempts ahead of their schedule don't count either: the scheduled ones still follow
  if (is_early) return waits(retryAfterMs);
  const delay_ms = delayMsAfter(failures + 1, retryAfterMs, clock);
  if (delay_ms === null) return { ...result, state: "failed", counted: false, delay_ms: 0, go_on: goOn };
  return { ...result, state: "pending", counted: true, delay_ms, go_on: false };
}
