import type pg from "pg";
import { connect, getDatabaseName } from "../postgres/client.ts";
import { getSocket } from "../postgres/pg-private.ts";
import { pause } from "../lib/retry.ts";
import { urlOfDatabase } from "./templates.ts";

/** Milliseconds between two looks whether the turn of another program has ended. */
const lookEveryMs = 100;
/** Milliseconds after which it is told that somebody waits. */
const tellAfterMs = 10_000;

/** The right to change a database and its migrations, which other programs wait for. */
export interface Turn {
  end(): Promise<void>;
  /** It ends with the process, which it doesn't keep from ending. */
  keepToTheEnd(): void;
}

export interface TurnOptions {
  /** Ends the wait: who has been stopped does nothing with the turn. */
  signal?: AbortSignal;
  /** Told once that it takes long. */
  onWait?: (line: string) => void;
}

/**
 * Waits for a turn. graphile-migrate and `erp db watch` take turns, because the one fails when the other has the lock of
 * migrations. It may drop the database, with its locks, so this is a lock in another database. Without rights to connect to
 * that, there are no turns.
 *
 * @param adminUrl the database that is to be changed
 */
export async function takeTurn(adminUrl: string, { signal, onWait }: TurnOptions = {}): Promise<Turn> {
  const client = await connect(urlOfDatabase(adminUrl, "postgres")).catch(() => null);
  if (client === null) return { end: async () => {}, keepToTheEnd() {} };
  try {
    await waitForLock(client, `migrations of ${getDatabaseName(adminUrl)}`, { signal, onWait });
  } catch {
    // Postgres has ended the connection, and with it all turns
  }
  return { end: () => client.end(), keepToTheEnd: () => void getSocket(client).unref() };
}

async function waitForLock(client: pg.Client, name: string, { signal, onWait }: TurnOptions): Promise<void> {
  const since = performance.now();
  // A pooler may keep the locks of a session, but none of a transaction that was left
  await client.query("begin; set local idle_in_transaction_session_timeout = 0");
  for (let hasTold = false; !signal?.aborted;) {
    const { rows } = await client.query<{ has: boolean }>(
      "select pg_try_advisory_xact_lock(hashtext($1)) as has",
      [name],
    );
    if (rows[0]!.has) return;
    if (!hasTold && performance.now() - since > tellAfterMs) {
      hasTold = true;
      onWait?.("Another program changes the database or its migrations: this one waits for its end.");
    }
    await pause(lookEveryMs, signal);
  }
}
