import { Webhook } from "standardwebhooks";

/** The headers by which Standard Webhooks identifies and signs a message. */
export interface SignatureHeaders {
  /** The same at every attempt, so that receivers recognise repetitions. */
  "webhook-id": string;
  /** When this attempt was made, in seconds since 1970: receivers refuse old ones. */
  "webhook-timestamp": string;
  /** One signature for each secret, separated by spaces. */
  "webhook-signature": string;
}

/**
 * Signs a message by Standard Webhooks.
 *
 * @param secrets `whsec_…`, the newest first. For a while after a rotation there are two, and receivers that know
 *   either accept the message
 * @param now in milliseconds since 1970
 */
export function sign(id: string, body: string, secrets: readonly string[], now: number): SignatureHeaders {
  const time = new Date(now);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now / 1000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, time, body)).join(" "),
  };
}
