import type { ClientBase } from "pg";

const unreplicated = new WeakSet<ClientBase>();

/** Thrown for a commit that a synchronous standby may not have received. */
export class Unreplicated extends Error {
  readonly code = "UNREPLICATED";

  constructor() {
    super("The wait for a synchronous standby was cancelled.");
  }
}

/**
 * Watches a connection for commits that didn't wait for the synchronous standby, because the wait was cancelled. Postgres reports
 * success with a warning, but a failover may lose them.
 */
export function watchReplication(client: ClientBase): void {
  client.on("notice", ({ routine }) => {
    if (routine === "SyncRepWaitForLSN") unreplicated.add(client);
  });
}

/** Whether a connection's latest commit is one of them. */
export const isUnreplicated = (client: ClientBase): boolean => unreplicated.delete(client);

/** Forgets such a commit of an earlier user of the connection, for example of a transaction with several statements. */
export const forgetUnreplicated = (client: ClientBase): void => void unreplicated.delete(client);
