import type { PoolClient } from "pg";
import type { MerchantPlanName } from "../auth/merchant-plan.ts";

/** The merchant's plan. */
export interface StoredMerchantPlan {
  name: MerchantPlanName;
  /** Limits that differ from the settings. */
  limits: Record<string, number>;
}

/** Reads the current plan. */
export async function readMerchantPlan(client: PoolClient): Promise<StoredMerchantPlan> {
  const { rows } = await client.query<StoredMerchantPlan>(
    "select name, limits from administration.plans() where is_current",
  );
  return rows[0]!;
}
