import type { PoolClient } from "pg";

/** Days that statistics cover. */
export const spanDays = 30;

/** Requests of a token to a version on a day. */
export interface Use {
  credential_id: string;
  day: Date;
  version: string;
  /** Type.field; empty: all requests of the version. */
  deprecated_field: string;
  requests: number;
  last_used_at: Date;
}

/** Use of one token, or all, in the last days. Newest day first. */
export async function readUses(client: PoolClient, id: string | null = null): Promise<Use[]> {
  const { rows } = await client.query<Use>(
    `select credential_id, day::timestamptz, version, deprecated_field, requests::float8, last_used_at
     from administration.credential_uses(current_date - $2::integer, $1)`,
    [id, spanDays - 1],
  );
  return rows;
}
