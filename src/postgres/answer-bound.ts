import type { ClientBase } from "pg";
import { onMessage, getSocket } from "./pg-private.ts";

/**
 * The most bytes of a response of Postgres, which the driver holds in memory as buffers and then as texts. Operations within the
 * limits have about 11 MB if texts are as long as in a shop.
 */
const maxBytes = 32_000_000;

/** Thrown for a response that was cut off. The connection is closed, because only then Postgres stops sending the rest. */
export class ResponseTooLong extends Error {
  readonly code = "ANSWER_TOO_LONG";

  constructor() {
    super(`Postgres sent more than ${maxBytes} bytes.`);
  }
}

/** Cuts off responses on a connection that are longer than a process can hold for all clients at a time. */
export function limitResponses(client: ClientBase): void {
  const stream = getSocket(client);
  let bytes = 0;
  // Before the driver appends the piece to the others
  stream.prependListener("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= maxBytes || stream.destroyed) return;
    const error = new ResponseTooLong();
    // A later rollback would hide the reason by its own failure
    Object.assign(client, { query: () => Promise.reject(error) });
    stream.destroy(error);
  });
  onMessage(client, "readyForQuery", () => (bytes = 0));
}
