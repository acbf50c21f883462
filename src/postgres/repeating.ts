import type { WithPgClient } from "postgraphile/@dataplan/pg";
import type { NodePostgresPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import { markFinal, isCollision } from "../errors/postgres-errors.ts";
import { retry } from "../lib/retry.ts";

type WithClients = WithPgClient<NodePostgresPgClient>;

/** The most attempts at work that collides with other transactions. */
const attempts = 4;

/**
 * Returns the milliseconds until work may be repeated that Postgres rolled back because of another transaction, such as a
 * migration that locks tables in another order. Null if it can't be repeated, or failed too often.
 */
export function pauseAfterCollision(error: unknown, failures: number): number | null {
  if (!isCollision(error)) return null;
  // Transactions that collided begin again at different times
  if (failures < attempts) return 10 * failures * (1 + Math.random());
  markFinal(error);
  return null;
}

/** Returns the same function with repetition: work is repeated after a collision with another transaction. */
export function withRetries(withClients: WithClients): WithClients {
  const retrying: WithClients = (settings, work) =>
    retry(async () => withClients(settings, work), {
      pauseMs(error, failures) {
        const pauseMs = pauseAfterCollision(error, failures);
        if (pauseMs === null) throw error;
        return pauseMs;
      },
    });
  return Object.assign(retrying, withClients);
}
