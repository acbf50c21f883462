import type { KeyObject } from "node:crypto";
import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { BucketsInMemory } from "./rate-limits/buckets-in-memory.ts";
import type { Secrets } from "../secrets/secrets.ts";
import { signingKeyPlace, UnreadableSecret } from "../secrets/secrets.ts";
import type { Obstacle } from "../lib/readiness.ts";
import { UserError } from "../errors/user-error.ts";
import { readAs } from "../postgres/as-role.ts";
import type { InvalidatedCache } from "./invalidated-cache.ts";
import type { SigningKey, SigningKeys } from "./signing-keys.ts";
import { isUuid } from "../lib/uuid.ts";

export const signingKeysQuery =
  'select id, secret, signs, extract(epoch from remaining)::float8 * 1000 as "remainingMs" from auth.signing_keys()';

/** Milliseconds for which keys are cached while notifications can't be heard. */
const deafHoldsMs = 1_000;
/** Readings because of tokens with unknown keys: anyone may send these. */
const rereads = { name: "signing-keys", capacity: 5, perSecond: 1 };

export interface StoredSigningKeysOptions {
  pool: Pool;
  /** Notifies of changes. */
  cache: Pick<InvalidatedCache, "isCurrent" | "onOutdated">;
  secrets: Secrets;
  logger: Logger;
  /** In milliseconds since 1970. */
  now: () => number;
  /** Those that have just been read. */
  first?: readonly SigningKeyRow[] | undefined;
}

/** A key as the database has it. */
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

/**
 * Keys in the database. They are read again when the database notifies of a change or, while notifications can't be
 * heard, every second. A token with an unknown key also causes a reading, since it may have been signed a moment before
 * the notification, but only once a second for any number of such tokens.
 */
export class StoredSigningKeys implements SigningKeys {
  readonly #options: StoredSigningKeysOptions;
  readonly #buckets = new BucketsInMemory();
  #keys: ReadonlyMap<string, StoredKey> = new Map();
  /** Grows when the cached keys may be outdated. */
  #era = 0;
  #eraOfKeys = -1;
  #readAt = -Infinity;
  #reading: Promise<void> | null = null;

  /**
   * Reads the keys. If several processes find none, one makes the first.
   *
   * @throws {UserError} when the signing key can't be decrypted
   */
  static async open(options: StoredSigningKeysOptions): Promise<StoredSigningKeys> {
    const keys = new StoredSigningKeys(options);
    if (options.first) keys.#note(options.first, keys.#era);
    else await keys.#read();
    if (!keys.#signing) {
      await addFirstKey(options.pool, options.secrets);
      await keys.#read();
    }
    const { obstacle } = keys;
    if (obstacle) throw new UserError(`${obstacle.message} The log says which.`);
    return keys;
  }

  private constructor(options: StoredSigningKeysOptions) {
    this.#options = options;
    options.cache.onOutdated(() => this.#era++);
  }

  /** Why no token can be signed, as far as is known without asking; null when one can. */
  get obstacle(): Obstacle | null {
    if (this.#signing?.key) return null;
    const message = "This process can't read the key that signs access tokens.";
    return { code: "SIGNING_KEY_UNREADABLE", message };
  }

  get #signing(): StoredKey | undefined {
    return [...this.#keys.values()].find(({ signs }) => signs);
  }

  async current(): Promise<SigningKey> {
    await this.#refresh();
    const signing = this.#signing;
    if (!signing) throw new UnreadableSecret("There is no key that signs access tokens.");
    return { id: signing.id, key: readable(signing) };
  }

  find(id: string): KeyObject | Promise<KeyObject | undefined> {
    const found = this.#isFresh ? this.#accepted(id) : undefined;
    return found ? readable(found) : this.#findAnew(id);
  }

  async #findAnew(id: string): Promise<KeyObject | undefined> {
    if (!isUuid(id)) return undefined;
    await this.#refresh();
    let found = this.#accepted(id);
    if (!found && this.#buckets.take(rereads, "", 1).isAllowed) {
      await this.#read();
      found = this.#accepted(id);
    }
    return found && readable(found);
  }

  #accepted(id: string): StoredKey | undefined {
    const found = this.#keys.get(id);
    return found && found.retiresAt > this.#options.now() ? found : undefined;
  }

  get #isFresh(): boolean {
    return this.#options.cache.isCurrent
      ? this.#eraOfKeys === this.#era
      : performance.now() - this.#readAt < deafHoldsMs;
  }

  async #refresh(): Promise<void> {
    // A reading in progress may have begun before the change
    for (let times = 0; times < 2 && !this.#isFresh; times++) await this.#read();
  }

  /** Reads them, once at a time for any number of callers. */
  #read(): Promise<void> {
    return (this.#reading ??= this.#readNow().finally(() => void (this.#reading = null)));
  }

  async #readNow(): Promise<void> {
    const era = this.#era;
    const { pool } = this.#options;
    const rows = await readAs<SigningKeyRow>(pool, "service_auth", signingKeysQuery);
    this.#note(rows, era);
  }

  #note(rows: readonly SigningKeyRow[], era: number): void {
    const { now } = this.#options;
    this.#keys = new Map(
      rows.map((row) => [
        row.id,
        {
          id: row.id,
          key: this.#keyOf(row),
          signs: row.signs,
          retiresAt: now() + (row.remainingMs ?? Infinity),
        },
      ]),
    );
    this.#eraOfKeys = era;
    this.#readAt = performance.now();
  }

  #keyOf({ id, secret }: SigningKeyRow): KeyObject | null {
    const known = this.#keys.get(id);
    // A key stays usable even if it is encrypted again by a key that this process lacks
    if (known?.key) return known.key;
    try {
      return createSecretKey(Buffer.from(this.#options.secrets.open(secret, signingKeyPlace(id)), "base64"));
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      if (!known) this.#options.logger.error({ err: error }, "a key that signs access tokens can't be read");
      return null;
    }
  }
}

function readable({ id, key }: StoredKey): KeyObject {
  if (key) return key;
  throw new UnreadableSecret(`The signing key ${id} can't be read.`);
}

/** A new key in its stored form. */
export function newSigningKey(secrets: Secrets): { id: string; stored: string } {
  const id = randomUUID();
  return { id, stored: secrets.seal(randomBytes(32).toString("base64"), signingKeyPlace(id)) };
}

async function addFirstKey(pool: Pool, secrets: Secrets): Promise<void> {
  const { id, stored } = newSigningKey(secrets);
  await readAs(pool, "service_auth", "select auth.add_first_signing_key($1, $2)", [id, stored]);
}
