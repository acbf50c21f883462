import type { Pool } from "pg";
import { readAs } from "../postgres/as-role.ts";
import type { Mark } from "./invalidated-cache.ts";
import type { MerchantPlanRow } from "./merchant-plan.ts";
import { merchantPlanQuery } from "./merchant-plan.ts";
import type { SigningKeyRow } from "./stored-signing-keys.ts";
import { signingKeysQuery } from "./stored-signing-keys.ts";

/** What any request to a merchant needs of rights. */
export interface FirstRights {
  mark: Mark;
  /** The state of the database's migrations. */
  state: string;
  keys: SigningKeyRow[];
  plan: MerchantPlanRow | null;
}

const text = `select mark::text, state,
    (select coalesce(json_agg(k), '[]') from (${signingKeysQuery}) k) as keys,
    (select to_json(p) from (${merchantPlanQuery}) p) as plan
  from auth.rights_now()`;

/** Reads it by one statement: a new connection would wait for the answer to each. */
export async function readFirstRights(pool: Pool): Promise<FirstRights> {
  const readAt = performance.now();
  const [row] = await readAs<Omit<FirstRights, "mark"> & { mark: string }>(pool, "service_auth", text);
  if (!row) throw new Error("auth.rights_mark has no row.");
  return { ...row, mark: { text: row.mark, readAt } };
}
