import type { Delivery } from "./lanes.ts";
import { sign } from "./sign.ts";

/** What is sent at one attempt. */
export interface Message {
  headers: Record<string, string>;
  body: string;
}

const numberOf = (text: string | null): number | null => (text === null ? null : Number(text));

/**
 * The message about an event.
 *
 * @param data what it says about the subject
 * @param now in milliseconds since 1970
 */
export function messageOf(delivery: Delivery, data: unknown, now: number): Message {
  const { event_id, topic, occurred_at, sequence, previous_sequence, api_version } = delivery;
  const body = JSON.stringify({
    type: topic,
    timestamp: occurred_at.toISOString(),
    sequence: numberOf(sequence),
    previousSequence: numberOf(previous_sequence),
    apiVersion: api_version,
    changedFields: delivery.changed_fields,
    cause: delivery.cause,
    data,
  });
  return {
    headers: {
      "content-type": "application/json",
      "user-agent": "stock-and-order-webhooks",
      ...sign(event_id, body, delivery.secrets, now),
    },
    body,
  };
}

/** Headers that may be kept and shown: a signature would let others send the message again. */
export function withoutSignature(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "webhook-signature"));
}
