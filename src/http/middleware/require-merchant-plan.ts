import type { Logger } from "pino";
import { sendErrors, sendJson } from "../answers.ts";
import { clientError } from "../../errors/client-errors.ts";
import type { CurrentMerchantPlan, MerchantPlan } from "../../auth/merchant-plan.ts";
import type { Middleware, Response } from "../pipeline.ts";

declare global {
  namespace Express {
    interface Locals {
      /** The merchant's plan. */
      merchantPlan?: MerchantPlan;
    }
  }
}

/** Refuses every request while the merchant's plan has no API. Its body is not a GraphQL answer. */
export function requireMerchantPlan(plan: CurrentMerchantPlan, logger: Logger): Middleware {
  return async (request, response, next) => {
    try {
      response.locals.merchantPlan = await plan.of("current");
    } catch (error) {
      const { requestId } = response.locals;
      response.setHeader("retry-after", "1");
      return sendErrors(request, response, 503, [clientError(error, { requestId, logger })]);
    }
    if (response.locals.merchantPlan.name !== "none") return next();
    refuseWithoutMerchantPlan(response);
  };
}

/** The same for the token endpoint, whose own errors (RFC 6749) also report when the plan can't be read. */
export function requireMerchantPlanForTokens(plan: CurrentMerchantPlan): Middleware {
  return async (_request, response, next) => {
    const { name } = await plan.of("current");
    if (name !== "none") return next();
    refuseWithoutMerchantPlan(response);
  };
}

function refuseWithoutMerchantPlan(response: Response): void {
  response.setHeader("cache-control", "no-store");
  sendJson(response, 402, {
    // For OAuth clients, at the token endpoint
    error: "access_denied",
    error_description: "The merchant's plan does not include the API.",
    errors: [
      {
        status: "402",
        code: "SERVICE_GRAPHQL__API_DISABLED",
        title: "API disabled",
        detail: "The merchant's plan does not include the API.",
        meta: { requestId: response.locals.requestId },
      },
    ],
  });
}
