import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import { arrivalOf } from "./arrival.ts";
import { OpenConnections } from "./connections.ts";
import { oneAtATime } from "./one-at-a-time.ts";

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
