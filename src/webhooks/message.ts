import type { Delivery } from "./delivery-queues.ts";
import { sign } from "./sign.ts";

/** The request of one attempt. */
export interface Message {
  headers: Record<string, string>;
  body: string;
}

/**
 * The message about an event.
 *
 * @param data data about the subject
 * @param now in milliseconds since 1970
 */
export function messageOf(
  { event_id, body }: Delivery,
  data: unknown,
  secrets: readonly string[],
  now: number,
  traceHeaders: Record<string, string> = {},
): Message {
  const text = JSON.stringify({ ...body, data });
  const headers = {
    "content-type": "application/json",
    "user-agent": "stock-and-order-webhooks",
    ...sign(event_id, text, secrets, now),
    ...traceHeaders,
  };
  return { headers, body: text };
}

/** Headers that may be stored and shown: with a signature, readers could send the message again. */
export function withoutSignature(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "webhook-signature"));
}
