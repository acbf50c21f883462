import type { Attempted } from "./attempt.ts";
import { healthAfter, isBack, probeInterval } from "./health.ts";
import type { HealthState } from "./health.ts";
import type { NextState, Result } from "./lanes.ts";
import type { RetryClock } from "./retry.ts";
import { delayAfter } from "./retry.ts";

/** What is to be noted of attempts. */
export interface Verdict {
  results: Result[];
  states: NextState[];
}

/**
 * What attempts mean for their deliveries and subscriptions.
 *
 * @param before how the subscriptions were doing. Attempts of others are left out: these are gone
 * @param goesOn whether a lane is to be kept for its next delivery
 */
export function judge(
  attempts: Attempted[],
  before: Map<string, HealthState>,
  now: number,
  clock: RetryClock,
  goesOn: (attempted: Attempted) => boolean,
): Verdict {
  const after = new Map(before);
  const hurried = new Set<string>();
  const results: Result[] = [];
  for (const attempted of attempts) {
    const id = attempted.delivery.subscription_id;
    const state = after.get(id);
    if (!state) continue;
    const next = attempted.outcome ? healthAfter(state, attempted.outcome, now) : state;
    after.set(id, next);
    if (isBack(state, next, now)) hurried.add(id);
    results.push(resultOf(attempted, next, clock, goesOn(attempted)));
  }
  const states = [...after].map(([id, { health, reason, failures, failingSince }]) => ({
    ...{ id, health, reason, failures, hurry: hurried.has(id) },
    failing_since: failingSince === null ? null : new Date(failingSince).toISOString(),
    probe_after: health === "SUSPENDED" ? Math.round(probeInterval * clock.pace) : null,
  }));
  return { results, states };
}

function resultOf(
  { delivery, outcome, attempt, wish }: Attempted,
  { health }: HealthState,
  clock: RetryClock,
  goOn: boolean,
): Result {
  const { delivery_id, subscription_id, entity_id, claim, failures } = delivery;
  const named = { delivery: delivery_id, subscription: subscription_id, entity: entity_id, claim };
  const result = { ...named, attempt, tried: attempt !== null };
  const isOpen = health === "HEALTHY" || health === "DEGRADED";
  if (outcome?.kind === "delivered")
    return { ...result, state: "delivered", counted: false, delay: 0, go_on: goOn && isOpen };
  if (attempt === null) return { ...result, state: "pending", counted: false, delay: 0, go_on: false };
  // While nothing gets through at all, what is tried now and then isn't given up for it
  if (!isOpen) {
    const delay = delayAfter(1, wish, clock)!;
    return { ...result, state: "pending", counted: false, delay, go_on: false };
  }
  const delay = delayAfter(failures + 1, wish, clock);
  if (delay === null) return { ...result, state: "failed", counted: false, delay: 0, go_on: goOn };
  return { ...result, state: "pending", counted: true, delay, go_on: false };
}
