import type { PoolClient } from "pg";
import type { PlanName } from "../auth/plan.ts";

/** The plan that the merchant has. */
export interface CurrentPlan {
  name: PlanName;
  /** Limits that differ from the settings. */
  limits: Record<string, number>;
}

/** Reads the current plan. */
export async function readPlan(client: PoolClient): Promise<CurrentPlan> {
  const { rows } = await client.query<CurrentPlan>(
    "select name, limits from administration.plans() where is_current",
  );
  return rows[0]!;
}
