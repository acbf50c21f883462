import type { RequestHandler } from "express";
import type { Readiness } from "../lib/readiness.ts";

/**
 * Handles `GET /livez`: this process responds. It checks nothing else, so that supervisors don't restart it for problems
 * that a restart doesn't solve.
 */
export const liveness: RequestHandler = (_request, response) => {
  response.setHeader("cache-control", "no-store");
  response.json({ status: "ok" });
};

/**
 * Handles `GET /readyz`: whether this process can read and write now, and if not, why. It is for load balancers and
 * monitors and needs no token, so it names the failing part and no details.
 */
export function readinessEndpoint(readiness: Readiness): RequestHandler {
  return async (_request, response) => {
    const obstacles = await readiness.findObstacles();
    response.setHeader("cache-control", "no-store");
    if (obstacles.length === 0) return void response.json({ status: "ok" });
    if (obstacles.every(({ isPartial }) => isPartial))
      return void response.json({ status: "degraded", obstacles });
    response.status(503).setHeader("retry-after", "1");
    response.json({ status: "unavailable", obstacles });
  };
}
