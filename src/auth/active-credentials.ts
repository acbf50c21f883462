import type { Pool } from "pg";
import { asAuthRole } from "../database/as-role.ts";
import type { InvalidatedCache } from "./invalidated-cache.ts";

/** The present state of an access key. */
export interface ActiveCredentials {
  /** Scopes that tokens of a key may have now; null when the key is gone or its credential deactivated. */
  of(accessKey: string): Promise<ReadonlySet<string> | null>;
}

interface Key {
  scopes: ReadonlySet<string>;
  /** Milliseconds until it ends, after a rotation with an overlap. */
  remainingMs: number;
}

/** Which access keys are active, and with which scopes. */
export function activeCredentials(pool: Pool, cache: InvalidatedCache): ActiveCredentials {
  const ask = async (accessKey: string): Promise<Key | null> => {
    const { rows } = await asAuthRole(pool, (client) =>
      client.query<{ scopes: string[]; remainingMs: number | null }>(
        'select scopes, extract(epoch from remaining)::float8 * 1000 as "remainingMs" from auth.active_scopes($1)',
        [accessKey],
      ),
    );
    const [key] = rows;
    return key ? { scopes: new Set(key.scopes), remainingMs: key.remainingMs ?? Infinity } : null;
  };
  const keys = cache.remember(ask, 10_000, (key) => Math.floor(key?.remainingMs ?? Infinity));
  return { of: async (accessKey) => (await keys.of(accessKey))?.scopes ?? null };
}
