import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Connections that have sent no request yet, as a share of the maximum. Usually they are a handful. */
const maxUnusedShare = 0.2;

/**
 * Limits clients' connections. Beyond the maximum an idle connection is closed rather than the new one: otherwise a
 * client that opens all connections and holds them would shut everyone else out.
 */
export class OpenConnections {
  readonly #max: number;
  /** In the order in which they were opened. */
  readonly #unused = new Set<Socket>();
  /** In the order of their last requests, kept since there were many. */
  readonly #used = new Set<Socket>();

  /** @param max at the same time */
  constructor(max: number) {
    this.#max = max;
  }

  /** Adds a new connection. */
  add(socket: Socket): void {
    this.#unused.add(socket);
    socket.once("close", () => this.#remove(socket));
    if (this.count <= this.#max) return;
    const closed = this.#worstBeside(socket) ?? socket;
    this.#remove(closed);
    closed.destroy();
  }

  /** Notes a request on a connection. */
  use(socket: Socket): void {
    if (socket.destroyed) return;
    bodyBegins(socket);
    // The order doesn't matter while less than half of the maximum is open
    if (this.#used.has(socket) && 2 * this.count < this.#max) return;
    this.#remove(socket);
    this.#used.add(socket);
  }

  /** Closes connections whose request has not arrived in this time. */
  closeLate(limitMs: number): void {
    const before = performance.now() - limitMs;
    for (const socket of this.#used)
      if (isArriving(socket) && (bodies.get(socket) ?? Infinity) < before) {
        if (socket.writable) socket.write("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n");
        socket.destroySoon();
      }
  }

  get count(): number {
    return this.#unused.size + this.#used.size;
  }

  /** The connection to close: one without a request, if these are many, or else the one that has been idle longest. */
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

/** When the last request of a connection began, on the clock of `performance`. */
const bodies = new WeakMap<Socket, number>();

const bodyBegins = (socket: Socket): void => void bodies.set(socket, performance.now());

/**
 * Lets the body of a request take as long as it needs, while something arrives.
 *
 * @returns ends that: the rest has as long as any request
 */
export function allowLongBody({ socket }: Pick<IncomingMessage, "socket">): () => void {
  bodies.set(socket, Infinity);
  return () => bodyBegins(socket);
}

/**
 * Whether a request is arriving, be it answered already. This property is not documented either; a test covers it, too.
 */
function isArriving(socket: Socket): boolean {
  const { parser } = socket as { parser?: { incoming?: IncomingMessage | null } | null };
  return parser?.incoming?.complete === false;
}

/**
 * Whether a request has arrived completely and is not answered yet. This property is not documented; a test covers it.
 */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: response } = socket as { _httpMessage?: ServerResponse<IncomingMessage> | null };
  return response?.req.complete ?? false;
}
