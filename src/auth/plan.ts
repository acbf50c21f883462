import type { Pool } from "pg";
import type { Logger } from "pino";
import { asAuthRole } from "../database/as-role.ts";
import type { InvalidatedCache, CachedAnswers } from "./invalidated-cache.ts";
import type { Limits } from "../graphql/limits.ts";
import { limitsOfPlan } from "../graphql/limits.ts";

/** What the plan includes: nothing, queries, or all of the API. */
export type PlanName = "none" | "read_only" | "full";

export interface Plan {
  name: PlanName;
  /** The settings' limits, changed by those of the plan. */
  limits: Limits;
}

/** The present plan. */
export type CurrentPlan = CachedAnswers<"current", Plan>;

/** Reads the plan from `auth.plan`. */
export function currentPlan(
  pool: Pool,
  cache: InvalidatedCache,
  { limits, logger }: { limits: Limits; logger: Logger },
): CurrentPlan {
  // Equal limits must be the same object, because other limits empty the cache of documents
  let last = { text: "{}", limits };
  return cache.remember(async () => {
    const { rows } = await asAuthRole(pool, (client) =>
      client.query<{ name: PlanName; limits: unknown }>("select name, limits from auth.current_plan()"),
    );
    const [plan] = rows;
    if (!plan) throw new Error("auth.plan has no current plan.");
    const text = JSON.stringify(plan.limits);
    if (text !== last.text) {
      const { data, error } = limitsOfPlan.safeParse(plan.limits);
      if (error)
        logger.error(
          { err: error, plan: plan.name },
          "the limits of the plan are wrong; the usual ones hold",
        );
      last = { text, limits: { ...limits, ...data } };
    }
    return { name: plan.name, limits: last.limits };
  }, 1);
}
