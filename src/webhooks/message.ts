import type { Delivery } from "./delivery-queues.ts";
import { sign } from "./sign.ts";

/** What is sent at one attempt. */
export interface Message {
  headers: Record<string, string>;
  body: string;
}

/**
 * The message about an event.
 *
 * @param data what it says about the subject
 * @param now in milliseconds since 1970
 */
export function messageOf(
  { event_id, body }: Delivery,
  data: unknown,
  secrets: readonly string[],
  now: number,
): Message {
  const text = JSON.stringify({ ...body, data });
  const headers = {
    "content-type": "application/json",
    "user-agent": "stock-and-order-webhooks",
    ...sign(event_id, text, secrets, now),
  };
  return { headers, body: text };
}

/** Headers that may be kept and shown: a signature would let others send the message again. */
export function withoutSignature(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "webhook-signature"));
}
