import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";

/** Milliseconds that a request's head, and all of it, may take to arrive. */
const [headersTimeout, requestTimeout] = [10_000, 30_000];
/** Milliseconds between two looks for requests that are late. */
const connectionsCheckingInterval = 5_000;
/** Milliseconds without a byte moving, after which a connection ends. Longer than any operation takes. */
const silenceTimeout = 90_000;

/**
 * A server that bounds what connections may take: how many there are, how long a request may take to arrive, and how
 * long nobody may read an answer.
 *
 * @param maxConnections at the same time; more are closed at once
 */
export function boundedServer(listener: RequestListener, maxConnections: number): Server {
  const server = createServer({ headersTimeout, requestTimeout, connectionsCheckingInterval }, listener);
  server.maxConnections = maxConnections;
  server.timeout = silenceTimeout;
  return server;
}
