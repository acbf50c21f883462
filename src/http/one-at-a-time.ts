import type { RequestListener } from "node:http";
import type { Socket } from "node:net";

/** Requests that may wait on a connection for an earlier one. */
const maxWaiting = 30;

/**
 * Begins a request when the previous one on the same connection has been answered. Node would begin all requests that a
 * client sends at once, hundreds in one turn of the event loop, and hold back the answers.
 *
 * An answer has no socket until its turn comes.
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
