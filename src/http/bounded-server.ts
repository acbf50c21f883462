import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import { Connections } from "./connections.ts";
import { oneAtATime } from "./one-at-a-time.ts";

/** Milliseconds that a request's head, and all of it, may take to arrive. */
const [headersTimeout, requestTimeout] = [10_000, 30_000];
/** Milliseconds between two looks for requests that are late. */
const connectionsCheckingInterval = 5_000;
/** Milliseconds without a byte moving, after which a connection ends. Longer than any operation takes. */
const silenceTimeoutMs = 90_000;

/**
 * A server that bounds what connections may take: how many there are, how long a request may take to arrive, how many are
 * worked on, and how long nobody may read an answer.
 *
 * @param maxConnections at the same time; more close those on which nothing is done
 */
export function boundedServer(listener: RequestListener, maxConnections: number): Server {
  const connections = new Connections(maxConnections);
  const bounded = oneAtATime((request, response) => {
    connections.use(request.socket);
    listener(request, response);
  });
  const server = createServer({ headersTimeout, requestTimeout, connectionsCheckingInterval }, bounded);
  server.on("connection", (socket) => connections.add(socket));
  server.timeout = silenceTimeoutMs;
  return server;
}
