import type { Attempted } from "./attempt.ts";
import { healthAfter, isBack, pauseAfter, probeAfter } from "./health.ts";
import type { HealthState } from "./health.ts";
import type { NextState, Result } from "./delivery-queues.ts";
import type { RetryClock } from "./retry.ts";
import { delayAfter } from "./retry.ts";

/** Milliseconds that a subscription pauses at least when there are too few points for its payloadQuery. */
const shortestPauseMs = 1_000;

/** What is to be noted of attempts. */
export interface Verdict {
  results: Result[];
  states: NextState[];
}

/**
 * What attempts mean for their deliveries and subscriptions.
 *
 * @param before how the subscriptions were doing. Attempts of others are left out: these are gone
 * @param goesOn whether a queue is to be kept for its next delivery
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
  const pauses = new Map<string, Pause>();
  const results: Result[] = [];
  for (const attempted of attempts) {
    const { outcome, delivery } = attempted;
    const id = delivery.subscription_id;
    const state = after.get(id);
    if (!state) continue;
    const next = outcome ? healthAfter(state, outcome, now) : state;
    after.set(id, next);
    if (isBack(state, next, now)) hurried.add(id);
    if (outcome) pauses.set(id, pauseOf(attempted, next, clock));
    results.push(resultOf(attempted, next, clock, goesOn(attempted)));
  }
  const states = [...after].map(([id, state]) =>
    nextState(id, state, hurried.has(id), pauses.get(id) ?? null, clock),
  );
  return { results, states };
}

/** For how long nothing is sent, and whether it is probed before the schedule, in milliseconds. */
interface Pause {
  pausedFor: number | null;
  /** As the receiver wants it. */
  probedAfter: number;
}

function pauseOf({ outcome, wish }: Attempted, state: HealthState, { pace }: RetryClock): Pause {
  if (outcome?.kind === "unpaid") return { pausedFor: Math.max(wish ?? 0, shortestPauseMs), probedAfter: 0 };
  const pause = outcome?.kind === "costly" ? pauseAfter(state) : null;
  return { pausedFor: pause === null ? null : Math.round(pause * pace), probedAfter: wish ?? 0 };
}

/** @param pause null when nothing was tried */
function nextState(
  id: string,
  state: HealthState,
  hurry: boolean,
  pause: Pause | null,
  { pace }: RetryClock,
): NextState {
  const { health, reason, failures, failingSince, payloadFailures } = state;
  const probe = probeAfter(state);
  return {
    ...{ id, health, reason, failures, hurry },
    failing_since: failingSince === null ? null : new Date(failingSince).toISOString(),
    probe_after: probe === null ? null : Math.max(Math.round(probe * pace), pause?.probedAfter ?? 0),
    payload_failures: payloadFailures,
    paused_for: pause?.pausedFor ?? null,
    stays_paused: pause === null,
  };
}

function resultOf(attempted: Attempted, state: HealthState, clock: RetryClock, goOn: boolean): Result {
  const { delivery, outcome, attempt, wish } = attempted;
  const { delivery_id, subscription_id, entity_id, claim, failures, is_early } = delivery;
  const named = { delivery: delivery_id, subscription: subscription_id, entity: entity_id, claim };
  const result = { ...named, attempt, tried: attempt !== null };
  const isOpen = state.health === "HEALTHY" || state.health === "DEGRADED";
  if (outcome?.kind === "delivered")
    return { ...result, state: "delivered", counted: false, delay: 0, go_on: goOn && isOpen };
  const waits = (delay: number | null): Result => ({
    ...{ ...result, state: "pending", counted: false, delay, go_on: false },
  });
  if (attempt === null) return waits(wish ?? 0);
  // It says nothing about the message
  if (outcome?.kind === "costly" || outcome?.kind === "unpaid")
    return waits(pauseOf(attempted, state, clock).pausedFor);
  // While nothing gets through at all, what is tried now and then isn't given up for it
  if (!isOpen) return waits(delayAfter(1, wish, clock));
  // Nor what was tried before its time, which comes all the same
  if (is_early) return waits(wish);
  const delay = delayAfter(failures + 1, wish, clock);
  if (delay === null) return { ...result, state: "failed", counted: false, delay: 0, go_on: goOn };
  return { ...result, state: "pending", counted: true, delay, go_on: false };
}
