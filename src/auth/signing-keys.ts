import type { KeyObject } from "node:crypto";
import { createHash, createSecretKey } from "node:crypto";

/** A key for HMAC-SHA256 over access tokens. As a KeyObject, for a string would be tried as a public key each time. */
export interface SigningKey {
  /** What tokens name it by, in their header `kid`. */
  id: string;
  key: KeyObject;
}

/** Keys that sign access tokens. */
export interface SigningKeys {
  /** The key that signs now. */
  current(): SigningKey | Promise<SigningKey>;
  /** The key whose signatures are accepted by this name now; undefined when there is none. */
  find(id: string): KeyObject | undefined | Promise<KeyObject | undefined>;
}

/** Keys that the environment gives: the first signs, all are accepted as long as they are given. */
export class ConfiguredSigningKeys implements SigningKeys {
  readonly #current: SigningKey;
  readonly #byId: ReadonlyMap<string, KeyObject>;

  /** @param texts at least one, of at least 32 characters each */
  constructor(texts: readonly string[]) {
    const keys = texts.map((text) => ({ id: configuredKeyId(text), key: createSecretKey(text, "utf8") }));
    this.#current = keys[0]!;
    this.#byId = new Map(keys.map(({ id, key }) => [id, key]));
  }

  current(): SigningKey {
    return this.#current;
  }

  find(id: string): KeyObject | undefined {
    return this.#byId.get(id);
  }
}

/** What tokens call a key of the environment: the same in every process, and telling no more than a signature does. */
export function configuredKeyId(text: string): string {
  return `env-${createHash("sha256").update("id of a signing key:").update(text).digest("hex").slice(0, 16)}`;
}
