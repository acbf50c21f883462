import type { RequestListener } from "node:http";
import type { Socket } from "node:net";

/** Requests that may wait on a connection for an earlier one. */
const maxWaiting = 30;

/**
 * Begins with a request when the one before it on the same connection has been answered. Node would begin with all that
 * a client sends at once, hundreds in a turn of the event loop, and hold back the answers.
 *
 * An answer whose turn it isn't has no socket yet.
 */
export function oneAtATime(listener: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    if (response.socket) return listener(request, response);
    const { socket } = request;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > maxWaiting) return void socket.destroy();
    waiting.set(socket, count);
    response.once("socket", () => {
      waiting.set(socket, waiting.get(socket)! - 1);
      listener(request, response);
    });
  };
}
