import { sendJson } from "../answers.ts";
import type { Middleware } from "../pipeline.ts";

/** Tells the explorer, which asks by `X-Cost-Only`, what an operation would cost, without running it. */
export const tellCost: Middleware = (request, response, next) => {
  const { refusals, cost } = response.locals.operation!;
  if (request.headers["x-cost-only"] === undefined || refusals.length > 0) return next();
  sendJson(response, 200, { extensions: { cost } });
};
