import type { RequestHandler } from "express";
import type { Readiness } from "../../lib/readiness.ts";

/** `GET /livez`: this process serves. It asks nothing else, so nobody restarts it for what a restart doesn't mend. */
export const liveness: RequestHandler = (_request, response) => {
  response.setHeader("cache-control", "no-store");
  response.json({ status: "ok" });
};

/**
 * `GET /readyz`: whether this process can read and write now, and what is in its way if not. For balancers and
 * monitors, without a token; so it says which part it is, and no more.
 */
export function readinessEndpoint(readiness: Readiness): RequestHandler {
  return async (_request, response) => {
    const obstacles = await readiness.look();
    response.setHeader("cache-control", "no-store");
    if (obstacles.length === 0) return void response.json({ status: "ok" });
    if (obstacles.every(({ isPartial }) => isPartial))
      return void response.json({ status: "degraded", obstacles });
    response.status(503).setHeader("retry-after", "1");
    response.json({ status: "unavailable", obstacles });
  };
}
