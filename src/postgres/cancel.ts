import { connect } from "node:net";
import type { Socket } from "node:net";
import type { Pool, PoolClient } from "pg";
import { getBackend } from "./pg-private.ts";
import type { Backend } from "./pg-private.ts";

/** The code of a CancelRequest in Postgres' protocol. */
const cancelRequest = 80_877_102;
/** The timeout of a request in milliseconds. */
const requestTimeoutMs = 1_000;

/**
 * Returns a function that cancels all statements on the connections of a pool. They fail with 57014 and are rolled back. It
 * sends a CancelRequest for each: `pg_cancel_backend` would need another connection, and behind a pooler another process
 * may have the number.
 */
export function createCanceller(pool: Pool): () => void {
  const busy = new Set<PoolClient>();
  pool.on("acquire", (client) => void busy.add(client));
  pool.on("release", (_error, client) => void busy.delete(client));
  return () => {
    for (const client of busy) requestCancel(getBackend(client));
  };
}

function requestCancel({ host, port, processID, secretKey }: Backend): void {
  if (processID === null || secretKey === null) return;
  const socket = connectToPostgres(host, port);
  socket.on("error", () => {});
  socket.setTimeout(requestTimeoutMs, () => socket.destroy());
  const message = Buffer.alloc(16);
  [message.length, cancelRequest, processID, secretKey].forEach((number, i) =>
    message.writeInt32BE(number | 0, 4 * i),
  );
  socket.end(message);
}

function connectToPostgres(host: string, port: number): Socket {
  return host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
}
