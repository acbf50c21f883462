import type { ClientBase } from "pg";

const unreplicated = new WeakSet<ClientBase>();

/** A commit that a standby was to have, and of which nobody knows whether it has it. */
export class Unreplicated extends Error {
  readonly code = "UNREPLICATED";

  constructor() {
    super("The wait for a synchronous standby was cancelled.");
  }
}

/**
 * Hears on a connection of commits that didn't wait for the synchronous standby, because the wait was cancelled. Postgres answers
 * them like all others, with a warning, but a failover may lose them.
 */
export function watchReplication(client: ClientBase): void {
  client.on("notice", ({ routine }) => {
    if (routine === "SyncRepWaitForLSN") unreplicated.add(client);
  });
}

/** Whether the commit that a connection has just answered is one of them. */
export const isUnreplicated = (client: ClientBase): boolean => unreplicated.delete(client);

/** Forgets such a commit of others that had the connection before, as transactions of several statements. */
export const forgetUnreplicated = (client: ClientBase): void => void unreplicated.delete(client);
