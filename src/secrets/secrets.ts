import type { KeyObject } from "node:crypto";
import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes } from "node:crypto";

/** The only format so far. The prefix distinguishes encrypted secrets from plain ones, in SQL as well. */
const format = "sealed:v1";
const sealed = /^sealed:v1:([0-9a-f]{16}):([A-Za-z0-9_-]+)$/;
const ivBytes = 12;
const tagBytes = 16;

/** A secret that this process can't decrypt. */
export class UnreadableSecret extends Error {
  /** errors/postgres-errors.ts has the message for clients. */
  readonly code = "NO_SECRETS_KEY";
}

/**
 * Encrypts and decrypts stored secrets by AES-256-GCM. The row of a secret is the associated data, so that the secret is
 * useless in another row.
 *
 * Without keys, secrets are stored in plain text. Plain text can always be read, because it exists until `npx erp keys
 * encrypt` has been run.
 */
export class Secrets {
  readonly #keys: ReadonlyMap<string, KeyObject>;
  /** The key that encrypts; null when nothing is encrypted. */
  readonly currentKeyId: string | null;

  /** @param keys keys of 32 bytes, in base64. The first encrypts, all decrypt */
  constructor(keys: readonly string[]) {
    this.#keys = new Map(
      keys.map((text) => Buffer.from(text, "base64")).map((key) => [computeKeyId(key), createSecretKey(key)]),
    );
    this.currentKeyId = this.keyIds[0] ?? null;
  }

  /** The ids of all keys, which reveal nothing about the keys. */
  get keyIds(): string[] {
    return [...this.#keys.keys()];
  }

  /**
   * Returns the stored form of a secret.
   *
   * @param place see {@link secretPlace}
   */
  seal(plain: string, place: string): string {
    if (this.currentKeyId === null) return plain;
    const key = this.#keys.get(this.currentKeyId)!;
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes });
    cipher.setAAD(associatedData(this.currentKeyId, place));
    const parts = [iv, cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()];
    return `${format}:${this.currentKeyId}:${Buffer.concat(parts).toString("base64url")}`;
  }

  /**
   * Returns the secret from its stored form.
   *
   * @throws {UnreadableSecret} when there is no key for it, or it was changed or moved
   */
  open(stored: string, place: string): string {
    const [, keyId, content] = sealed.exec(stored) ?? [];
    if (keyId === undefined || content === undefined) return stored;
    const key = this.#keys.get(keyId);
    if (!key) throw new UnreadableSecret(`SECRETS_KEY lacks the key ${keyId}, which encrypts ${place}.`);
    const bytes = Buffer.from(content, "base64url");
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(associatedData(keyId, place));
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      const text = decipher.update(bytes.subarray(ivBytes, -tagBytes), undefined, "utf8");
      return text + decipher.final("utf8");
    } catch {
      throw new UnreadableSecret(
        `The secret of ${place} can't be decrypted: it was changed, or belongs to another row.`,
      );
    }
  }
}

const associatedData = (keyId: string, place: string): Buffer => Buffer.from(`${format}:${keyId}:${place}`);

/** Returns the id of a key. The prefix distinguishes it from hashes of the key for other purposes. */
const computeKeyId = (key: Buffer): string =>
  createHash("sha256").update("id of a secrets key:").update(key).digest("hex").slice(0, 16);

/** Kinds of stored secrets: their tables, and their names in messages. */
export const secretKinds = {
  "signing key": { table: "auth.signing_key", plural: "keys that sign access tokens" },
  "valuation key": { table: "valuation.signing_key", plural: "keys that sign stock valuation heads" },
  "webhook secret": { table: "events.webhook_secret", plural: "webhook secrets" },
  "carrier secret": { table: "erp.carrier", plural: "secrets of carriers" },
};
export type SecretKind = keyof typeof secretKinds;

/** Returns the place of a secret: the table and the id of its row. */
export const secretPlace = (kind: SecretKind, id: string): string => `${secretKinds[kind].table}/${id}`;
