import type { Pool } from "pg";
import { asAuthRole } from "./as-role.ts";
import type { Memory, Remembered } from "./memory.ts";

/** Scopes that tokens of an access key may have now; null when the key is gone or its credential deactivated. */
export type ActiveCredentials = Remembered<string, ReadonlySet<string> | null>;

/** Which access keys work now, and with which scopes. */
export function activeCredentials(pool: Pool, memory: Memory): ActiveCredentials {
  return memory.remember(async (accessKey: string) => {
    const { rows } = await asAuthRole(pool, (client) =>
      client.query<{ scopes: string[] | null }>("select auth.active_scopes($1) as scopes", [accessKey]),
    );
    const scopes = rows[0]?.scopes;
    return scopes ? new Set(scopes) : null;
  }, 10_000);
}
