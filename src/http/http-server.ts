import { once } from "node:events";
import type { Server, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../errors/user-error.ts";

/**
 * Milliseconds between the moment from which no connection is accepted and that from which answers close theirs.
 * Clients whose connection is closed come again at once, and must not meet a door that is just closing.
 */
const closedDoorMs = 100;
/** Milliseconds that a connection without a request has from then on to send one, and be told by its answer. */
const idleGraceMs = 1_000;
/** Milliseconds between two looks for such connections. */
const idleCheckMs = 50;

/** An HTTP server that stops without cutting anybody off. */
export class HttpServer {
  readonly #server: Server;
  /**
   * Connections, each with the last answer that was begun on it. Not a set of answers under way: what is added and taken
   * out with each request leaves tables behind that keep requests alive, and doubled what garbage collection costs.
   */
  readonly #sockets = new Map<Socket, { response: ServerResponse | null }>();
  #isClosing = false;

  /** @param server one that doesn't listen yet */
  constructor(server: Server) {
    this.#server = server;
    this.#server.on("connection", (socket) => {
      this.#sockets.set(socket, { response: null });
      socket.once("close", () => this.#sockets.delete(socket));
    });
    // Before those that answer
    this.#server.prependListener("request", ({ socket }, response) => {
      // One that waits for an earlier answer of its connection may never get its turn
      if (response.socket) this.#note(socket, response);
      else response.once("socket", () => this.#note(socket, response));
    });
  }

  /** Where it listens. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** @throws {UserError} when the port is taken */
  async listen({ host, port }: { host: string; port: number }): Promise<void> {
    this.#server.listen(port, host);
    try {
      await once(this.#server, "listening");
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      const reason = code === "EADDRINUSE" ? "another program uses it. Set PORT to another one" : message;
      throw new UserError(`Can't listen on ${host}:${port}: ${reason}.`, { cause });
    }
  }

  /**
   * Accepts no more connections, answers what comes on those that are there, and closes each after its answer. Ends
   * when none is left.
   *
   * Node's own `close()`, which `stoppable` and `http-terminator` build upon, ends idle connections at the very moment
   * it is called. On a busy server a connection is idle for a millisecond between two requests, of which the next may
   * be on its way: its client would get a reset, and couldn't know whether it was served.
   *
   * @param deadline when to cut what is left, on the clock of `performance`
   * @param onLate called a second before that, to break off what is still being worked on
   */
  async stop(deadline: number, onLate: () => void = () => {}): Promise<void> {
    const ended = new Promise<void>((done) => {
      // That of sockets, for that of HTTP is the one that ends idle connections
      NetServer.prototype.close.call(this.#server, () => done());
    });
    const late = setTimeout(onLate, remaining(deadline - 1_000));
    const cut = setTimeout(() => this.#server.closeAllConnections(), remaining(deadline));
    await Promise.race([ended, sleep(closedDoorMs)]);
    this.#isClosing = true;
    for (const { response } of this.#sockets.values())
      if (response && !response.headersSent) response.setHeader("connection", "close");
    await Promise.race([ended, sleep(idleGraceMs)]);
    const idle = setInterval(() => {
      // After what has arrived was read, so that its connection doesn't count as idle
      setImmediate(() => this.#closeIdle());
    }, idleCheckMs);
    await ended;
    for (const timer of [late, cut, idle]) clearTimeout(timer);
    this.#server.close(); // Ends its watch over slow requests, which is all that is left
  }

  #note(socket: Socket, response: ServerResponse): void {
    const state = this.#sockets.get(socket);
    if (state) state.response = response;
    if (this.#isClosing) response.setHeader("connection", "close");
  }

  #closeIdle(): void {
    this.#server.closeIdleConnections();
    // To Node, those that nothing has come on yet aren't idle. Browsers open such ones in advance.
    for (const socket of this.#sockets.keys()) if (socket.bytesRead === 0) socket.destroy();
  }
}

const remaining = (moment: number): number => Math.max(0, moment - performance.now());
