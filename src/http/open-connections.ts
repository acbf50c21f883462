import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The share of all connections that may be without a request before these are closed first. Usually there are few. */
const maxUnusedShare = 0.2;

/**
 * Limits clients' connections. Beyond the maximum an idle connection is closed rather than the new one: otherwise a
 * client that opens all connections and keeps them would lock out everyone else.
 */
export class OpenConnections {
  readonly #max: number;
  /** Connections without a request, in the order in which they were opened. */
  readonly #unused = new Set<Socket>();
  /** Connections with requests. While there are many, they are in the order of their last requests. */
  readonly #used = new Set<Socket>();

  /** @param max the maximum number of connections */
  constructor(max: number) {
    this.#max = max;
  }

  /** Adds a new connection. */
  add(socket: Socket): void {
    this.#unused.add(socket);
    socket.once("close", () => this.#remove(socket));
    if (this.count <= this.#max) return;
    const closed = this.#chooseToClose(socket) ?? socket;
    this.#remove(closed);
    closed.destroy();
  }

  /** Notes a request on a connection. */
  use(socket: Socket): void {
    if (socket.destroyed) return;
    noteBodyStart(socket);
    // The order doesn't matter while less than half of the maximum is open
    if (this.#used.has(socket) && 2 * this.count < this.#max) return;
    this.#remove(socket);
    this.#used.add(socket);
  }

  /** Closes connections whose request has not arrived within a time limit. */
  closeLate(limitMs: number): void {
    const before = performance.now() - limitMs;
    for (const socket of this.#used)
      if (isArriving(socket) && (bodyStarts.get(socket) ?? Infinity) < before) {
        if (socket.writable) socket.write("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n");
        socket.destroySoon();
      }
  }

  get count(): number {
    return this.#unused.size + this.#used.size;
  }

  /** Returns the connection to close: one without a request if there are many, or else the one idle for longest. */
  #chooseToClose(newcomer: Socket): Socket | undefined {
    const [unused] = this.#unused;
    if (this.#unused.size > this.#max * maxUnusedShare) return unused;
    for (const socket of this.#used) if (!isAnswering(socket)) return socket;
    return unused === newcomer ? undefined : unused;
  }

  #remove(socket: Socket): void {
    if (!this.#unused.delete(socket)) this.#used.delete(socket);
  }
}

/** For each connection, when its last request began, on the clock of `performance`. */
const bodyStarts = new WeakMap<Socket, number>();

const noteBodyStart = (socket: Socket): void => void bodyStarts.set(socket, performance.now());

/**
 * Exempts the body of a request from the time limit, as long as data keep arriving.
 *
 * @returns a function that ends the exemption: the rest has the usual time limit
 */
export function allowLongBody({ socket }: Pick<IncomingMessage, "socket">): () => void {
  bodyStarts.set(socket, Infinity);
  return () => noteBodyStart(socket);
}

/**
 * Whether a request is arriving, even if its response is already sent. The property isn't documented; a test covers it.
 */
function isArriving(socket: Socket): boolean {
  const { parser } = socket as { parser?: { incoming?: IncomingMessage | null } | null };
  return parser?.incoming?.complete === false;
}

/**
 * Whether a request has arrived completely and has no full response yet. The property isn't documented; a test covers it.
 */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: response } = socket as { _httpMessage?: ServerResponse<IncomingMessage> | null };
  return response?.req.complete ?? false;
}
