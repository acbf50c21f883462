import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Connections on which nothing has been asked yet, as a part of all that there may be. Usually they are a handful. */
const maxUnusedShare = 0.2;

/**
 * Bounds the connections of clients. When there are too many, one is closed on which nothing is being done, rather than the
 * new one: otherwise who opens all that there may be, and holds them, would shut everybody else out.
 */
export class Connections {
  readonly #max: number;
  /** In the order in which they were opened. */
  readonly #unused = new Set<Socket>();
  /** In the order of their last requests, since there were many. */
  readonly #used = new Set<Socket>();

  /** @param max at the same time */
  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a new connection in. */
  add(socket: Socket): void {
    this.#unused.add(socket);
    socket.once("close", () => this.#remove(socket));
    if (this.count <= this.#max) return;
    const closed = this.#worstBeside(socket) ?? socket;
    this.#remove(closed);
    closed.destroy();
  }

  /** Notes that a request has come on a connection. */
  use(socket: Socket): void {
    if (socket.destroyed) return;
    // The order is of no concern as long as there is room for as many again
    if (this.#used.has(socket) && 2 * this.count < this.#max) return;
    this.#remove(socket);
    this.#used.add(socket);
  }

  get count(): number {
    return this.#unused.size + this.#used.size;
  }

  /** The one that is missed least: unused, where these are many, then the one that has been idle for longest. */
  #worstBeside(newcomer: Socket): Socket | undefined {
    const [unused] = this.#unused;
    if (this.#unused.size > this.#max * maxUnusedShare) return unused;
    for (const socket of this.#used) if (!isAnswering(socket)) return socket;
    return unused === newcomer ? undefined : unused;
  }

  #remove(socket: Socket): void {
    if (!this.#unused.delete(socket)) this.#used.delete(socket);
  }
}

/** Whether a request has come as a whole, and not been answered. This property is not documented; a test holds it. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: response } = socket as { _httpMessage?: ServerResponse<IncomingMessage> | null };
  return response?.req.complete ?? false;
}
