import { addVary } from "../../answers.ts";
import type { Middleware } from "../../pipeline.ts";

/** Headers that a page of another origin may send, and response headers that it may read. */
const allowedHeaders = [
  ...["authorization", "content-type", "accept", "accept-language", "content-encoding", "idempotency-key"],
  ...["if-none-match", "last-event-id", "x-consistent-with", "x-cost-only", "x-request-id"],
  // Added by clients and monitoring tools, among others
  ...["traceparent", "tracestate", "apollographql-client-name", "apollographql-client-version", "*"],
].join(", ");
const exposedHeaders =
  "content-disposition, content-language, etag, ratelimit, ratelimit-policy, retry-after, sunset, deprecation, x-consistent-with, x-request-id, x-service-api-deprecation-date";
/** Seconds for which a browser caches what is allowed. */
const maxAge = 7_200;

/**
 * Lets pages of other origins use the API, and nothing else (CORS). They need an access token like any client; cookies
 * have no effect here.
 *
 * @param origins such as `https://shop.example`; `*` for all
 */
export function crossOrigin(origins: readonly string[]): Middleware {
  const isOpen = origins.includes("*");
  const allowed = new Set(origins);
  return ({ method, url, headers }, response, next) => {
    const { origin } = headers;
    if (origins.length === 0 || !isApiUrl(url!)) return next();
    if (!isOpen) addVary(response, "Origin");
    if (origin === undefined || !(isOpen || allowed.has(origin))) return next();
    response.setHeader("access-control-allow-origin", isOpen ? "*" : origin);
    const requestedMethod = headers["access-control-request-method"];
    if (method !== "OPTIONS" || requestedMethod === undefined) {
      response.setHeader("access-control-expose-headers", exposedHeaders);
      return next();
    }
    response.statusCode = 204;
    response.setHeader("access-control-allow-methods", "GET, POST");
    response.setHeader("access-control-allow-headers", allowedHeaders);
    response.setHeader("access-control-max-age", maxAge);
    response.end();
  };
}

const isApiUrl = (url: string): boolean => /^(?:https?:\/\/[^/?#]*)?\/(?:api|\.well-known)\//.test(url);
