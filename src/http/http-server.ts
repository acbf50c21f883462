import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { explainListenError } from "./free-port.ts";

/** The media type of streams. The server ends them when it stops. */
export const eventStream = "text/event-stream";

/**
 * Milliseconds between closing the port and the first responses that close their connections. Clients reconnect at once
 * after such a response, and must not reach a port that is about to close.
 */
const closeDelayMs = 100;
/** Milliseconds for which idle connections then stay open, so that a request that is on its way gets a response. */
const idleGraceMs = 1_000;
/** Milliseconds between two checks for idle connections. */
const idleCheckMs = 50;

/** An HTTP server that stops without interrupting requests. */
export class HttpServer {
  readonly #server: Server;
  /**
   * Connections, each with its latest response. A set of running responses would change with each request and leave
   * tables behind that keep requests alive: that doubled the cost of garbage collection.
   */
  readonly #sockets = new Map<Socket, { response: ServerResponse | null }>();
  #isClosing = false;

  /** @param server a server that doesn't listen yet */
  constructor(server: Server) {
    this.#server = server;
    this.#server.on("connection", (socket) => {
      this.#sockets.set(socket, { response: null });
      socket.once("close", () => this.#sockets.delete(socket));
    });
    // Before the listeners that handle requests
    this.#server.prependListener("request", ({ socket }, response) => {
      // A response that waits for an earlier one on its connection may never be sent
      if (response.socket) this.#note(socket, response);
      else response.once("socket", () => this.#note(socket, response));
    });
  }

  /** The port on which it listens. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** @throws {UserError} when the port is taken */
  async listen({ host, port }: { host: string; port: number }): Promise<void> {
    this.#server.listen(port, host);
    try {
      await once(this.#server, "listening");
    } catch (cause) {
      throw explainListenError({ host, port }, cause);
    }
  }

  /**
   * Accepts no more connections, handles requests on existing ones, and closes each after its response. Resolves when
   * none is left.
   *
   * Node's `close()`, which `stoppable` and `http-terminator` use, closes idle connections at once. On a busy server a
   * connection is idle for a millisecond between two requests, and the next one may be on its way. Its client would get
   * a reset, and couldn't know whether the request was handled.
   *
   * @param deadline when to close remaining connections, on the clock of `performance`
   * @param onLate called a second before that, to cancel running work
   */
  async stop(deadline: number, onLate: () => void = () => {}): Promise<void> {
    const ended = new Promise<void>((done) => {
      // The method of net.Server, because http.Server's closes idle connections
      NetServer.prototype.close.call(this.#server, () => done());
    });
    const lateTimer = setTimeout(onLate, msUntil(deadline - 1_000));
    const cutTimer = setTimeout(() => this.#server.closeAllConnections(), msUntil(deadline));
    await Promise.race([ended, sleep(closeDelayMs)]);
    this.#isClosing = true;
    for (const { response } of this.#sockets.values()) {
      if (response && !response.headersSent) response.setHeader("connection", "close");
      if (response !== null && response.getHeader("content-type") === eventStream) response.end();
    }
    await Promise.race([ended, sleep(idleGraceMs)]);
    const idleTimer = setInterval(() => {
      // After input has been read, so that a connection with a new request doesn't count as idle
      setImmediate(() => this.#closeIdle());
    }, idleCheckMs);
    await ended;
    for (const timer of [lateTimer, cutTimer, idleTimer]) clearTimeout(timer);
    this.#server.close(); // Ends the timer for slow requests, the only thing left
  }

  #note(socket: Socket, response: ServerResponse): void {
    const state = this.#sockets.get(socket);
    if (state) state.response = response;
    if (this.#isClosing) response.setHeader("connection", "close");
  }

  #closeIdle(): void {
    this.#server.closeIdleConnections();
    // Node doesn't count connections without any request as idle. Browsers open some in advance
    for (const socket of this.#sockets.keys()) if (socket.bytesRead === 0) socket.destroy();
  }
}

const msUntil = (moment: number): number => Math.max(0, moment - performance.now());
