import type { KeyObject } from "node:crypto";
import { createHash, createSecretKey } from "node:crypto";

/**
 * A key for signing access tokens with HMAC-SHA256. It is a KeyObject, because a string would be parsed at each use.
 */
export interface SigningKey {
  /** Its id in the header `kid` of tokens. */
  id: string;
  key: KeyObject;
}

/** Keys that sign access tokens. */
export interface SigningKeys {
  /** Returns the key that signs now. */
  current(): SigningKey | Promise<SigningKey>;
  /** Returns the accepted key with this id; undefined when there is none. */
  find(id: string): KeyObject | undefined | Promise<KeyObject | undefined>;
}

/** Returns the keys of the settings: the first signs, all are accepted. @param texts at least one, of 32 characters or more */
export function configuredSigningKeys(texts: readonly string[]) {
  const keys = texts.map((text) => ({ id: configuredKeyId(text), key: createSecretKey(text, "utf8") }));
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  return { current: (): SigningKey => keys[0]!, find: (id: string) => byId.get(id) };
}

/** Returns the id of a key of the settings: the same in every process, and revealing no more than a signature does. */
export function configuredKeyId(text: string): string {
  return `env-${createHash("sha256").update("id of a signing key:").update(text).digest("hex").slice(0, 16)}`;
}
