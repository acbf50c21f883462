import { setTimeout as sleep } from "node:timers/promises";
import type { RequestHandler } from "express";
import type { Pool } from "pg";
import type { Availability } from "../versions/availability.ts";

/** Milliseconds that the database may take. */
const patience = 2_000;

/**
 * `GET /healthz`: whether this process can answer queries. 503 when it can't at all; a version that can't be served, or
 * differs from what was released, is named, with 200, for all others go on.
 */
export function health(pool: Pool, availability: Pick<Availability, "faults">): RequestHandler {
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
    if (!isHealthy) return void response.status(503).json({ status: "unavailable" });
    const versions = availability.faults();
    response.json(versions.length === 0 ? { status: "ok" } : { status: "degraded", versions });
  };
}
