import type { KeyObject } from "node:crypto";
import { createHash, createSecretKey } from "node:crypto";

/**
 * A key for HMAC-SHA256 over access tokens. A KeyObject, because a string would be parsed as a public key each time.
 */
export interface SigningKey {
  /** Its name in tokens' header `kid`. */
  id: string;
  key: KeyObject;
}

/** Keys that sign access tokens. */
export interface SigningKeys {
  /** The key that signs now. */
  current(): SigningKey | Promise<SigningKey>;
  /** The accepted key of this name; undefined when there is none. */
  find(id: string): KeyObject | undefined | Promise<KeyObject | undefined>;
}

/** Keys from the environment: the first signs, all are accepted. @param texts at least one, of at least 32 characters each */
export function configuredSigningKeys(texts: readonly string[]) {
  const keys = texts.map((text) => ({ id: configuredKeyId(text), key: createSecretKey(text, "utf8") }));
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  return { current: (): SigningKey => keys[0]!, find: (id: string) => byId.get(id) };
}

/** Name of a key of the environment: the same in every process, and revealing no more than a signature does. */
export function configuredKeyId(text: string): string {
  return `env-${createHash("sha256").update("id of a signing key:").update(text).digest("hex").slice(0, 16)}`;
}
