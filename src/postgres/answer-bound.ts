import type { ClientBase } from "pg";
import { onMessage, streamOf } from "./pg-private.ts";

/**
 * The most bytes of an answer of Postgres: what the driver has to hold at once, as buffers and then as texts. Operations that the
 * limits allow have some 11 MB where texts are as long as in a shop.
 */
const maxBytes = 32_000_000;

/** An answer that was cut off. The connection is lost by that, as only then Postgres stops sending the rest. */
export class AnswerTooLong extends Error {
  readonly code = "ANSWER_TOO_LONG";

  constructor() {
    super(`Postgres sent more than ${maxBytes} bytes.`);
  }
}

/** Cuts off answers on a connection that are longer than a process can hold for everyone at the same time. */
export function boundAnswers(client: ClientBase): void {
  const stream = streamOf(client);
  let bytes = 0;
  // Before the driver puts the piece to the others
  stream.prependListener("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= maxBytes || stream.destroyed) return;
    const error = new AnswerTooLong();
    // A rollback that is still to come would hide the reason by its own failure
    Object.assign(client, { query: () => Promise.reject(error) });
    stream.destroy(error);
  });
  onMessage(client, "readyForQuery", () => (bytes = 0));
}
