import type pg from "pg";
import { pino } from "pino";
import type { SigningKeys } from "../../src/auth/signing-keys.ts";
import { StoredSigningKeys } from "../../src/auth/stored-signing-keys.ts";
import type { StoredSigningKeysOptions } from "../../src/auth/stored-signing-keys.ts";
import { Secrets } from "../../src/secrets/secrets.ts";

/** Reads the signing keys of a database, for tests that sign access tokens themselves. Creates the first one if needed. */
export function storedKeys(pool: pg.Pool): SigningKeys {
  // A cache that keeps nothing
  const cache: StoredSigningKeysOptions["cache"] = {
    remember: (ask) => ({ of: ask, again: ask }),
    onOutdated: () => {},
  };
  const options = {
    pool,
    cache,
    secrets: new Secrets([]),
    logger: pino({ level: "silent" }),
    now: Date.now,
  };
  const keys = StoredSigningKeys.open(options);
  return { current: async () => (await keys).current(), find: async (id) => (await keys).find(id) };
}
