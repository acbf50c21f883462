import type { Logger } from "pino";
import { RefusedDestination } from "./destination.ts";
import type { DeliveryOutcome } from "./subscription-health.ts";
import type { Attempt, Delivery } from "./delivery-queues.ts";
import { makeMessage, withoutSignature } from "./message.ts";
import { PayloadFailure } from "./payload.ts";
import type { ReadPayload } from "./payload.ts";
import type { ReceiverResponse, WebhookClient } from "./webhook-client.ts";
import { NoResponse } from "./webhook-client.ts";
import type { DeliveryTrace } from "../tracing/spans.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { parseRetryAfter } from "./retry-schedule.ts";
import type { ReadSecrets } from "./webhook-secrets.ts";

/** Milliseconds until a delivery is tried again whose secret this process can't decrypt. Another process may have the key. */
const unreadableRetryMs = 2_000;

/** Result of one attempt. */
export interface AttemptResult {
  delivery: Delivery;
  /** The effect on the subscription; null if the attempt says nothing about the receiver. */
  outcome: DeliveryOutcome | null;
  /** Null when nothing was sent. */
  attempt: Attempt | null;
  /** Minimum milliseconds until the next attempt; null if neither the receiver nor this process requests a delay. */
  retryAfterMs: number | null;
}

export interface AttemptTools {
  /** Null when nothing is traced. */
  tracing: Tracing | null;
  client: Pick<WebhookClient, "post">;
  readPayload: ReadPayload;
  readSecrets: ReadSecrets;
  /** Whether this process still holds the lease, so that no other process has taken the delivery. */
  isHeld: (delivery: Delivery) => boolean;
  /** In milliseconds since 1970. */
  now: () => number;
  logger: Logger;
}

/** The fields of an attempt that sent nothing and got no response. */
const emptyAttempt = {
  status: null,
  error: null,
  request_headers: {},
  response_headers: null,
  response_body: null,
};

/** Tries to deliver once. A failure on our side is logged and stored, but says nothing about the receiver. */
export async function attempt(delivery: Delivery, tools: AttemptTools): Promise<AttemptResult> {
  try {
    return await tryOnce(delivery, tools);
  } catch (error) {
    tools.logger.error({ err: error, delivery: delivery.delivery_id }, "webhooks: unexpected error");
    const at = new Date(tools.now()).toISOString();
    const failed = { ...emptyAttempt, at, duration_ms: 0, error: "Something went wrong on our side." };
    return { delivery, outcome: null, attempt: failed, retryAfterMs: null };
  }
}

async function tryOnce(delivery: Delivery, tools: AttemptTools): Promise<AttemptResult> {
  const withheld =
    delivery.withheld ?? (delivery.secrets.length === 0 ? "It has no secret to sign with." : null);
  if (withheld !== null)
    return { delivery, outcome: { kind: "withheld", reason: withheld }, attempt: null, retryAfterMs: null };
  const secrets = tools.readSecrets(delivery);
  if (secrets === null) return notAttempted(delivery, unreadableRetryMs);
  const trace = tools.tracing && startTrace(delivery, tools.tracing);
  const attempted = await send(delivery, secrets, tools, trace);
  const { status = null, error = null } = attempted.attempt ?? {};
  trace?.end({ status, error });
  return attempted;
}

/**
 * Starts the span of an attempt, below the span of the request that caused the event. If that request isn't traced, neither
 * is the attempt. An event without a request gets a span of its own.
 */
function startTrace(delivery: Delivery, tracing: Tracing): DeliveryTrace | null {
  const { subscription_id: subscriptionId, delivery_id: deliveryId, traceparent, body } = delivery;
  const { requestId } = body.cause as { requestId: string | null };
  if (traceparent === null && requestId !== null) return null;
  const { url, topic, failures } = delivery;
  return tracing.beginDelivery(traceparent, { url, topic, failures, subscriptionId, deliveryId });
}

async function send(
  delivery: Delivery,
  secrets: string[],
  { client, readPayload, isHeld, now }: AttemptTools,
  trace: DeliveryTrace | null,
): Promise<AttemptResult> {
  const begun = now();
  const tried = (details: Partial<Attempt>): Attempt => ({
    at: new Date(begun).toISOString(),
    duration_ms: Math.max(now() - begun, 0),
    ...emptyAttempt,
    ...details,
  });
  let request_headers: Record<string, string> = {};
  try {
    const data = await readPayload(delivery, trace);
    const { headers, body } = makeMessage(delivery, data, secrets, now(), trace?.headers);
    // This process may have been suspended, and another process may be sending the message by now
    if (!isHeld(delivery)) return notAttempted(delivery);
    request_headers = withoutSignature(headers);
    const answer = await client.post(delivery.url, headers, body);
    const { outcome, error } = interpretResponse(answer);
    return {
      delivery,
      outcome,
      attempt: tried({
        status: answer.status,
        error,
        request_headers,
        response_headers: answer.headers,
        response_body: answer.body,
      }),
      retryAfterMs: parseRetryAfter(answer.headers["retry-after"], now()),
    };
  } catch (error) {
    if (error instanceof PayloadFailure)
      return payloadFailed(delivery, error, tried({ error: error.message }));
    if (!(error instanceof NoResponse || error instanceof RefusedDestination)) throw error;
    const { message: reason } = error;
    const outcome = { kind: "failed", reason } as const;
    return { delivery, outcome, attempt: tried({ error: reason, request_headers }), retryAfterMs: null };
  }
}

/** Returns a delivery to its queue as if it hadn't been tried. */
export const notAttempted = (delivery: Delivery, retryAfterMs: number | null = null): AttemptResult => ({
  delivery,
  outcome: null,
  attempt: null,
  retryAfterMs,
});

function payloadFailed(delivery: Delivery, failure: PayloadFailure, attempt: Attempt): AttemptResult {
  const { kind, message: reason, retryAfterMs } = failure;
  if (kind === "untried") return notAttempted(delivery, retryAfterMs);
  if (kind === "wrong") return { delivery, outcome: null, attempt, retryAfterMs: null };
  return { delivery, outcome: { kind, reason }, attempt, retryAfterMs };
}

function interpretResponse({ status }: ReceiverResponse): { outcome: DeliveryOutcome; error: string | null } {
  if (status >= 200 && status < 300) return { outcome: { kind: "delivered" }, error: null };
  const error = `The response was ${status}${status >= 300 && status < 400 ? ", and redirections are not followed" : ""}.`;
  return { outcome: status === 410 ? { kind: "gone" } : { kind: "failed", reason: error }, error };
}
