import { setTimeout as sleep } from "node:timers/promises";
import type { RequestHandler } from "express";
import type { Pool } from "pg";

/** Milliseconds that the database may take. */
const patience = 2_000;

/** `GET /healthz`: whether this process can answer queries. For load balancers, so without any detail. */
export function health(pool: Pool): RequestHandler {
  return async (_request, response) => {
    const waiting = new AbortController();
    const late = sleep(patience, false, { signal: waiting.signal }).catch(() => false);
    const answered = pool.query("select 1").then(
      () => true,
      () => false,
    );
    const isHealthy = await Promise.race([answered, late]);
    waiting.abort();
    response.setHeader("cache-control", "no-store");
    response.status(isHealthy ? 200 : 503).json({ status: isHealthy ? "ok" : "unavailable" });
  };
}
