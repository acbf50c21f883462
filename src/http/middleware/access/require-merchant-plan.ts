import type { Logger } from "pino";
import type { CurrentMerchantPlan } from "../../../auth/merchant-plan.ts";
import { clientError } from "../../../errors/client-errors.ts";
import { sendErrors, sendJson } from "../../answers.ts";
import type { Middleware, Response } from "../../pipeline.ts";

/** Refuses every request while the merchant's plan has no API. The body isn't a GraphQL response. */
export function requireMerchantPlan(
  plan: CurrentMerchantPlan,
  logger: Logger,
): Middleware<never, "merchantPlan"> {
  return async (request, response, next) => {
    let merchantPlan;
    try {
      merchantPlan = await plan.of("current");
    } catch (error) {
      const { requestId } = response.locals;
      response.setHeader("retry-after", "1");
      return sendErrors(request, response, 503, [clientError(error, { requestId, logger })]);
    }
    if (merchantPlan.name === "none") refuseWithoutMerchantPlan(response);
    else next({ merchantPlan });
  };
}

/** Responds that the merchant's plan has no API. */
export function refuseWithoutMerchantPlan(response: Response): void {
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
