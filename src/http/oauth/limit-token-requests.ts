import type { RequestHandler } from "express";
import type { RateLimits } from "../../auth/rate-limits/rate-limits.ts";
import { parseBasic } from "./client-credentials.ts";
import { OAuthError } from "./oauth-error.ts";

/** How many times as many requests as one client an address may send, because several clients may share it. */
const clientsPerAddress = 10;

/**
 * Limits the token requests per minute by client and address, so that no one can lock out another client. All clients of
 * an address together may send ten times as many. Comes after the body has been read.
 *
 * @throws {OAuthError} with status 429
 */
export function limitTokenRequests(rates: RateLimits, perMinute: number): RequestHandler {
  const createBucket = (name: string, capacity: number) => ({ name, capacity, perSecond: capacity / 60 });
  const addressBucket = createBucket("token-address", perMinute * clientsPerAddress);
  const clientBucket = createBucket("token-client", perMinute);
  return async (request, response, next) => {
    const address = request.ip ?? "";
    const body = request.body as { client_id?: unknown } | undefined;
    const named = parseBasic(request.get("authorization") ?? "")?.accessKey ?? body?.client_id;
    const client = typeof named === "string" ? named.slice(0, 100) : "";
    const results = await Promise.all([
      rates.take(addressBucket, address, 1),
      rates.take(clientBucket, `${address} ${client}`, 1),
    ]);
    const refused = results.filter(({ isAllowed }) => !isAllowed);
    if (refused.length === 0) return next();
    const wait = Math.max(...refused.map(({ retryInSeconds }) => retryInSeconds));
    response.setHeader("retry-after", wait);
    throw new OAuthError(
      429,
      "temporarily_unavailable",
      `Too many token requests. Reuse an access token: it is valid for ten minutes. Try again in ${wait} s.`,
    );
  };
}
