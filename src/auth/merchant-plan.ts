import type { Pool } from "pg";
import type { Logger } from "pino";
import { readAs } from "../postgres/as-role.ts";
import type { InvalidatedCache, CachedAnswers } from "./invalidated-cache.ts";
import type { Limits } from "../graphql/limits.ts";
import { merchantPlanLimits } from "../graphql/limits.ts";

/** The plans: no access, queries only, or the whole API. */
export type MerchantPlanName = "none" | "read_only" | "full";

export interface MerchantPlan {
  name: MerchantPlanName;
  /** The settings' limits, overridden by the plan's. */
  limits: Limits;
}

/** The plan in the database. */
export interface MerchantPlanRow {
  name: MerchantPlanName;
  limits: unknown;
}

export const merchantPlanQuery = "select name, limits from auth.current_plan()";

/** Returns the current plan. */
export type CurrentMerchantPlan = Pick<CachedAnswers<"current", MerchantPlan>, "of">;

/** Reads the plan from `auth.plan`. @param first the plan, if it has just been read */
export function currentMerchantPlan(
  pool: Pool,
  cache: InvalidatedCache,
  { limits, logger, first = null }: { limits: Limits; logger: Logger; first?: MerchantPlanRow | null },
): CurrentMerchantPlan {
  let read = first;
  cache.onOutdated(() => (read = null));
  // Equal limits must be the same object, because a new object empties the cache of documents
  let last = { text: "{}", limits };
  const readPlan = async () => {
    const plan = read ?? (await readAs<MerchantPlanRow>(pool, "service_auth", merchantPlanQuery))[0];
    read = null;
    if (!plan) throw new Error("auth.plan has no current plan.");
    const text = JSON.stringify(plan.limits);
    if (text !== last.text) {
      const { data, error } = merchantPlanLimits.safeParse(plan.limits);
      if (error)
        logger.error(
          { err: error, plan: plan.name },
          "the limits of the plan are invalid; the defaults apply",
        );
      last = { text, limits: { ...limits, ...data } };
    }
    return { name: plan.name, limits: last.limits };
  };
  return cache.remember(readPlan, 1, undefined, true);
}
