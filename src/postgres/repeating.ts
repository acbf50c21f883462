import type { WithPgClient } from "postgraphile/@dataplan/pg";
import type { NodePostgresPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import { giveUp, isCollision } from "../errors/postgres-errors.ts";
import { retry } from "../lib/retry.ts";

type WithClients = WithPgClient<NodePostgresPgClient>;

/** How often work is begun that other transactions are in the way of. */
const attempts = 4;

/**
 * Milliseconds until work can be repeated that Postgres has undone since another transaction was in the way, such as a
 * migration that locks tables in another order; null when it can't, or has been often enough.
 */
export function pauseAfterCollision(error: unknown, failures: number): number | null {
  if (!isCollision(error)) return null;
  // Those that were in each other's way begin at different times
  if (failures < attempts) return 10 * failures * (1 + Math.random());
  giveUp(error);
  return null;
}

/** Repeats what another transaction was in the way of. */
export function repeating(withClients: WithClients): WithClients {
  const repeated: WithClients = (settings, work) =>
    retry(async () => withClients(settings, work), {
      pauseMs(error, failures) {
        const pauseMs = pauseAfterCollision(error, failures);
        if (pauseMs === null) throw error;
        return pauseMs;
      },
    });
  return Object.assign(repeated, withClients);
}
