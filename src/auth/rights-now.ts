import type { Pool } from "pg";
import { readAs } from "../postgres/as-role.ts";
import type { ReadRows } from "../postgres/pipeline/read-text.ts";
import { settingsStatement } from "../postgres/pipeline/transaction-settings.ts";
import { serviceClient } from "../postgres/shared-pool.ts";
import type { Mark, ReadMark } from "./invalidated-cache.ts";
import { merchantPlanQuery } from "./merchant-plan.ts";
import type { MerchantPlanRow } from "./merchant-plan.ts";
import { signingKeysQuery } from "./stored-signing-keys.ts";
import type { SigningKeyRow } from "./stored-signing-keys.ts";

const name = "auth.rights_now";
const text = "select mark::text, state from auth.rights_now()";
const settings = settingsStatement({ role: "service_api" })!;

/**
 * Returns a function that reads the mark of rights. Without a free connection in `pool` it uses one for operations, which
 * the request needs anyway.
 *
 * @param onState called with the state of the database's migrations, which the same statement reads
 */
export function createMarkReader(
  pool: Pool,
  readRows: ReadRows | null,
  onState: (state: string) => void = () => {},
): ReadMark {
  const read = async (): Promise<{ mark: string; state: string } | undefined> => {
    if (!readRows || pool.idleCount > 0)
      return (await readAs<{ mark: string; state: string }>(pool, "service_auth", text))[0];
    const [row] = await readRows(serviceClient, settings, { text, name, isQuick: true });
    return row && { mark: row[0]!, state: row[1]! };
  };
  return async () => {
    const now = await read();
    if (!now) throw new Error("auth.rights_mark has no row.");
    onState(now.state);
    return now.mark;
  };
}

/** The rights that every request to a merchant needs. */
export interface InitialRights {
  mark: Mark;
  /** The state of the database's migrations. */
  state: string;
  keys: SigningKeyRow[];
  plan: MerchantPlanRow | null;
}

/** Reads these rights by one statement, because each further one would be a round trip on a new connection. */
export async function readInitialRights(pool: Pool): Promise<InitialRights> {
  const readAt = performance.now();
  const [row] = await readAs<Omit<InitialRights, "mark"> & { mark: string }>(
    pool,
    "service_auth",
    `select mark::text, state,
      (select coalesce(json_agg(k), '[]') from (${signingKeysQuery}) k) as keys,
      (select to_json(p) from (${merchantPlanQuery}) p) as plan
    from auth.rights_now()`,
  );
  if (!row) throw new Error("auth.rights_mark has no row.");
  return { ...row, mark: { text: row.mark, readAt } };
}
