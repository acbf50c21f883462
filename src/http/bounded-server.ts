import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { Socket } from "node:net";
import { OpenConnections } from "./open-connections.ts";
import { noteArrival } from "./pipeline.ts";

/** Milliseconds in which a request's headers, and the whole request, must arrive. Uploads are exempt from the second. */
const [headersTimeout, defaultRequestTimeoutMs] = [10_000, 30_000];
/** Milliseconds between two checks for late requests. */
const defaultCheckMs = 5_000;
/**
 * Milliseconds for which a connection stays open between two requests. Load balancers close theirs after 60 seconds, so
 * they never send a request on a connection that is being closed here.
 */
const keepAliveTimeout = 66_000;
/** Further milliseconds that aren't announced to clients, in case a busy client closes its connection late. */
const keepAliveTimeoutBuffer = 10_000;
/** Milliseconds without traffic after which a connection is closed: longer than any operation takes. */
const silenceTimeoutMs = 90_000;

/**
 * Creates a server with limits for connections: their number, the time in which a request arrives and a response is read,
 * and the requests that run at once.
 *
 * @param maxConnections the limit of open connections; beyond it, idle ones are closed
 * @param times for tests
 */
export function createBoundedServer(
  listener: RequestListener,
  maxConnections: number,
  { requestTimeoutMs = defaultRequestTimeoutMs, checkMs = defaultCheckMs } = {},
): Server {
  const connections = new OpenConnections(maxConnections);
  const bounded = serializeByConnection((request, response) => {
    connections.use(request.socket);
    listener(request, response);
  });
  const arriving: RequestListener = (request, response) => {
    noteArrival(request);
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
  const lateCheck = setInterval(() => connections.closeLate(requestTimeoutMs), checkMs);
  lateCheck.unref();
  server.on("close", () => clearInterval(lateCheck));
  server.on("connection", (socket) => connections.add(socket));
  server.timeout = silenceTimeoutMs;
  return server;
}

/** Requests that may wait on one connection for an earlier request. */
const maxWaiting = 30;

/**
 * Handles a request once the response to the previous one on the same connection is sent. Node would handle all pipelined
 * requests at once, hundreds in one turn of the event loop, and hold back the responses.
 *
 * Node gives a response its socket when its turn comes.
 */
function serializeByConnection(listener: RequestListener): RequestListener {
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
