import { randomBytes, randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { NewSecret } from "../graphql/context.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { UnreadableSecret, secretPlace } from "../secrets/secrets.ts";
import type { Delivery } from "./delivery-queues.ts";

/** Creates a secret for a webhook: 256 random bits, in the format of Standard Webhooks. */
export function newWebhookSecret(secrets: Secrets): NewSecret {
  const id = randomUUID();
  const plain = `whsec_${randomBytes(32).toString("base64")}`;
  return { id, plain, stored: secrets.seal(plain, secretPlace("webhook secret", id)) };
}

/** Returns the secrets for signing a delivery, newest first, or null if this process lacks the key to decrypt them. */
export type ReadSecrets = (delivery: Pick<Delivery, "secrets" | "secret_ids">) => string[] | null;

/**
 * Makes a function that decrypts the secrets of deliveries. It logs each unreadable secret once, not for each delivery.
 */
export function secretsReader(secrets: Secrets, logger: Logger): ReadSecrets {
  let logged = "";
  return ({ secrets: stored, secret_ids: ids }) => {
    try {
      return stored.map((secret, index) => secrets.open(secret, secretPlace("webhook secret", ids[index]!)));
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      if (error.message !== logged) logger.error({ err: error }, "webhooks: a secret can't be read");
      logged = error.message;
      return null;
    }
  };
}
