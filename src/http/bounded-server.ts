import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { Socket } from "node:net";
import { OpenConnections } from "./open-connections.ts";
import { arrivalOf } from "./pipeline.ts";

/** Milliseconds in which a request's head, and the whole request, must arrive; uploads have no limit of their own. */
const [headersTimeout, defaultRequestTimeoutMs] = [10_000, 30_000];
/** Milliseconds between two checks for late requests. */
const defaultCheckMs = 5_000;
/**
 * Milliseconds for which a connection stays open between two requests: longer than the 60 seconds that load balancers
 * do, so that none sends a request on a connection that is being closed.
 */
const keepAliveTimeout = 66_000;
/** Milliseconds beyond that, which the answer's header tells clients, for one that is too busy to close in time. */
const keepAliveTimeoutBuffer = 10_000;
/** Milliseconds without traffic after which a connection is closed: longer than any operation takes. */
const silenceTimeoutMs = 90_000;

/**
 * A server with limits for connections: their number, the time for a request to arrive, the requests that run at once,
 * and the time for reading an answer.
 *
 * @param maxConnections at the same time; beyond that, idle ones are closed
 * @param times for tests
 */
export function boundedServer(
  listener: RequestListener,
  maxConnections: number,
  { requestTimeoutMs = defaultRequestTimeoutMs, checkMs = defaultCheckMs } = {},
): Server {
  const connections = new OpenConnections(maxConnections);
  const bounded = oneAtATime((request, response) => {
    connections.use(request.socket);
    listener(request, response);
  });
  const arriving: RequestListener = (request, response) => {
    arrivalOf(request);
    bounded(request, response);
  };
  const server = createServer(
    // Node has one limit for all requests
    {
      headersTimeout,
      requestTimeout: 0,
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout,
      keepAliveTimeoutBuffer,
    },
    arriving,
  );
  const late = setInterval(() => connections.closeLate(requestTimeoutMs), checkMs);
  late.unref();
  server.on("close", () => clearInterval(late));
  server.on("connection", (socket) => connections.add(socket));
  server.timeout = silenceTimeoutMs;
  return server;
}

/** Requests that may wait on a connection for an earlier one. */
const maxWaiting = 30;

/**
 * Begins a request when the previous one on the same connection has been answered. Node would begin all requests that a
 * client sends at once, hundreds in one turn of the event loop, and hold back the answers.
 *
 * An answer has no socket until its turn comes.
 */
function oneAtATime(listener: RequestListener): RequestListener {
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
