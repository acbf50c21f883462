import { createHash } from "node:crypto";

/** Returns the SHA-256 of a random secret, code or token: the form in which it is stored and sent to the database. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
