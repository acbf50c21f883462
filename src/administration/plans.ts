import type { PoolClient } from "pg";
import type { PlanName } from "../auth/plan.ts";

/** The merchant's plan. */
export interface PlanRow {
  name: PlanName;
  /** Limits that differ from the settings. */
  limits: Record<string, number>;
}

/** Reads the current plan. */
export async function readPlan(client: PoolClient): Promise<PlanRow> {
  const { rows } = await client.query<PlanRow>(
    "select name, limits from administration.plans() where is_current",
  );
  return rows[0]!;
}
