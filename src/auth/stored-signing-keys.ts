import type { KeyObject } from "node:crypto";
import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { BucketsInMemory } from "./rate-limits/buckets-in-memory.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { secretPlace, UnreadableSecret } from "../secrets/secrets.ts";
import type { Obstacle, Readiness } from "../lib/readiness.ts";
import { UserError } from "../errors/user-error.ts";
import { readAs } from "../postgres/as-role.ts";
import type { CachedAnswers, InvalidatedCache } from "./invalidated-cache.ts";
import { configuredSigningKeys } from "./signing-keys.ts";
import type { SigningKey, SigningKeys } from "./signing-keys.ts";
import { isUuid } from "../lib/uuid.ts";

export const signingKeysQuery =
  'select id, secret, signs, extract(epoch from remaining)::float8 * 1000 as "remainingMs" from auth.signing_keys()';

/** The limit of reads because of tokens with unknown keys, which anyone may send. */
const rereadLimit = { name: "signing-keys", capacity: 5, perSecond: 1 };

export interface StoredSigningKeysOptions {
  pool: Pool;
  cache: Pick<InvalidatedCache, "remember" | "onOutdated">;
  secrets: Secrets;
  logger: Logger;
  /** Returns the time in milliseconds since 1970. */
  now: () => number;
  /** The keys, if they have just been read. */
  first?: readonly SigningKeyRow[] | undefined;
}

/** A signing key in the database. */
export interface SigningKeyRow {
  id: string;
  secret: string;
  signs: boolean;
  /** Milliseconds until it retires; null for the key that signs. */
  remainingMs: number | null;
}

interface StoredKey {
  id: string;
  /** Null when this process can't decrypt it. */
  key: KeyObject | null;
  signs: boolean;
  /** In milliseconds since 1970. */
  retiresAt: number;
}

type StoredKeys = ReadonlyMap<string, StoredKey>;

/**
 * Signing keys in the database, cached like other rights. A token with an unknown key triggers a read, because it may have
 * been signed just before the notification; but only once a second, however many such tokens arrive.
 */
export class StoredSigningKeys implements SigningKeys {
  readonly #options: StoredSigningKeysOptions;
  readonly #buckets = new BucketsInMemory();
  readonly #cached: CachedAnswers<"all", StoredKeys>;
  /** The keys that were read last. */
  #last: StoredKeys = new Map();

  /**
   * Reads the keys. If several processes find none, one of them creates the first.
   *
   * @throws {UserError} when the signing key can't be decrypted
   */
  static async open(options: StoredSigningKeysOptions): Promise<StoredSigningKeys> {
    const keys = new StoredSigningKeys(options);
    if (options.first) keys.#note(options.first);
    else await keys.#cached.of("all");
    if (!findSigning(keys.#last)) {
      await addFirstKey(options.pool, options.secrets);
      await keys.#cached.again("all");
    }
    const { obstacle } = keys;
    if (obstacle) throw new UserError(`${obstacle.message} The log says which.`);
    return keys;
  }

  private constructor(options: StoredSigningKeysOptions) {
    this.#options = options;
    const { pool, cache } = options;
    let read = options.first?.some(({ signs }) => signs) ? options.first : undefined;
    cache.onOutdated(() => (read = undefined));
    const readKeys = async () => {
      const rows = read ?? (await readAs<SigningKeyRow>(pool, "service_auth", signingKeysQuery));
      read = undefined;
      return this.#note(rows);
    };
    this.#cached = cache.remember(readKeys, 1);
  }

  /** The reason why no token can be signed, by the keys that were read last; null when one can. */
  get obstacle(): Obstacle | null {
    if (findSigning(this.#last)?.key) return null;
    const message = "This process can't read the key that signs access tokens.";
    return { code: "SIGNING_KEY_UNREADABLE", message };
  }

  async current(): Promise<SigningKey> {
    const signing = findSigning(await this.#cached.of("all"));
    if (!signing) throw new UnreadableSecret("There is no key that signs access tokens.");
    return { id: signing.id, key: requireReadable(signing) };
  }

  async find(id: string): Promise<KeyObject | undefined> {
    let found = this.#findAccepted(await this.#cached.of("all"), id);
    if (!found && isUuid(id) && this.#buckets.take(rereadLimit, "", 1).isAllowed)
      found = this.#findAccepted(await this.#cached.again("all"), id);
    return found && requireReadable(found);
  }

  #findAccepted(keys: StoredKeys, id: string): StoredKey | undefined {
    const found = keys.get(id);
    return found && found.retiresAt > this.#options.now() ? found : undefined;
  }

  #note(rows: readonly SigningKeyRow[]): StoredKeys {
    const now = this.#options.now();
    return (this.#last = new Map(
      rows.map((row) => {
        const { id, signs, remainingMs } = row;
        return [id, { id, key: this.#decryptKey(row), signs, retiresAt: now + (remainingMs ?? Infinity) }];
      }),
    ));
  }

  #decryptKey({ id, secret }: SigningKeyRow): KeyObject | null {
    const known = this.#last.get(id);
    // A key stays usable even if it is now encrypted with a key that this process lacks
    if (known?.key) return known.key;
    try {
      return createSecretKey(
        Buffer.from(this.#options.secrets.open(secret, secretPlace("signing key", id)), "base64"),
      );
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      if (!known) this.#options.logger.error({ err: error }, "a key that signs access tokens can't be read");
      return null;
    }
  }
}

const findSigning = (keys: StoredKeys): StoredKey | undefined =>
  [...keys.values()].find(({ signs }) => signs);

function requireReadable({ id, key }: StoredKey): KeyObject {
  if (key) return key;
  throw new UnreadableSecret(`The signing key ${id} can't be read.`);
}

/**
 * Opens the keys that sign access tokens: keys from the environment, or else from the database.
 *
 * @param configured keys of the settings, of at least 32 characters each
 * @throws {UserError} when the signing key of the database can't be decrypted
 */
export async function openSigningKeys(
  configured: readonly string[],
  { readiness, ...options }: StoredSigningKeysOptions & { readiness: Readiness },
): Promise<SigningKeys> {
  if (configured.length > 0) return configuredSigningKeys(configured);
  const keys = await StoredSigningKeys.open(options);
  readiness.add("keys", () => keys.obstacle);
  return keys;
}

/** Generates a signing key in its stored form. */
export function newSigningKey(secrets: Secrets): { id: string; stored: string } {
  const id = randomUUID();
  return { id, stored: secrets.seal(randomBytes(32).toString("base64"), secretPlace("signing key", id)) };
}

async function addFirstKey(pool: Pool, secrets: Secrets): Promise<void> {
  const { id, stored } = newSigningKey(secrets);
  await readAs(pool, "service_auth", "select auth.add_first_signing_key($1, $2)", [id, stored]);
}
