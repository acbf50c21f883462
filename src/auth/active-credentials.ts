import type { Pool } from "pg";
import { readAs } from "../postgres/as-role.ts";
import type { CachedAnswers, InvalidatedCache } from "./invalidated-cache.ts";

/** The rights of a credential's tokens. */
export interface CredentialRights {
  scopes: ReadonlySet<string>;
  /** Whether they may send stored operations only. */
  storedOperationsOnly: boolean;
}

/** Returns the current rights of a client ID's tokens; null when it is gone or its API credential deactivated. */
export type ActiveCredentials = Pick<CachedAnswers<string, CredentialRights | null>, "of">;

interface Key extends CredentialRights {
  /** Milliseconds until the client ID ends, after a rotation with an overlap. */
  remainingMs: number;
}

/** Creates a reader of active credentials and their scopes. */
export function activeCredentials(pool: Pool, cache: InvalidatedCache): ActiveCredentials {
  const readKey = async (accessKey: string): Promise<Key | null> => {
    const [key] = await readAs<{
      scopes: string[];
      remainingMs: number | null;
      storedOperationsOnly: boolean;
    }>(
      pool,
      "service_auth",
      `select scopes, extract(epoch from remaining)::float8 * 1000 as "remainingMs",
         stored_operations_only as "storedOperationsOnly"
       from auth.active_scopes($1)`,
      [accessKey],
    );
    return key ? { ...key, scopes: new Set(key.scopes), remainingMs: key.remainingMs ?? Infinity } : null;
  };
  return cache.remember(readKey, 10_000, (key) => Math.floor(key?.remainingMs ?? Infinity));
}
