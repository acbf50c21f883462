import { Webhook } from "standardwebhooks";
import type { Delivery } from "./delivery-queues.ts";

/**
 * Makes the request of one attempt: headers and body of the message about an event.
 *
 * @param data data about the subject
 * @param now in milliseconds since 1970
 */
export function makeMessage(
  { event_id, body }: Delivery,
  data: unknown,
  secrets: readonly string[],
  now: number,
  traceHeaders: Record<string, string> = {},
): { headers: Record<string, string>; body: string } {
  const text = JSON.stringify({ ...body, data });
  const headers = {
    "content-type": "application/json",
    "user-agent": "stock-and-order-webhooks",
    ...sign(event_id, text, secrets, now),
    ...traceHeaders,
  };
  return { headers, body: text };
}

/** Returns the headers that may be stored and shown. With the signature, readers could send the message again. */
export function withoutSignature(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "webhook-signature"));
}

/**
 * Returns the headers by which Standard Webhooks identifies and signs a message.
 *
 * @param secrets `whsec_…`, newest first. For a while after a rotation there are two, and receivers that know either
 *   of them accept the message
 * @param now in milliseconds since 1970
 */
export function sign(id: string, body: string, secrets: readonly string[], now: number) {
  const time = new Date(now);
  return {
    // The same at every attempt, so that receivers recognise duplicates
    "webhook-id": id,
    // The time of this attempt, in seconds. Receivers refuse old messages
    "webhook-timestamp": String(Math.floor(now / 1000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, time, body)).join(" "),
  };
}
