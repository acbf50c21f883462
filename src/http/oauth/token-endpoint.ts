import type { ErrorRequestHandler, RequestHandler } from "express";
import { json, Router, urlencoded } from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { databaseFailure } from "../../errors/postgres-errors.ts";
import type { CurrentMerchantPlan } from "../../auth/merchant-plan.ts";
import { refuseWithoutMerchantPlan } from "../middleware/access/require-merchant-plan.ts";
import type { AccessTokens } from "../../auth/access-token.ts";
import { accessTokenSeconds } from "../../auth/access-token.ts";
import { verifyUtf8 } from "../../lib/charset.ts";
import { readAs } from "../../postgres/as-role.ts";
import { invalidClient, invalidRequest, OAuthError } from "./oauth-error.ts";
import { limitTokenRequests } from "./limit-token-requests.ts";
import type { Refusals } from "../middleware/observing/refusals.ts";
import type { RateLimits } from "../../auth/rate-limits/rate-limits.ts";
import { readTokenRequest } from "./token-request.ts";
import { hashSecret } from "../../lib/hash-secret.ts";

/** The maximum length of a request's body in bytes. */
const maxBodyBytes = 16_384;

export interface TokenEndpointOptions {
  /** The merchant whose clients the endpoint knows; null if the request names none. */
  merchant: { pool: Pool; merchantPlan: CurrentMerchantPlan; tokens: AccessTokens } | null;
  logger: Logger;
  rates: RateLimits;
  /** Notes refused requests. */
  refusals: Refusals;
  /** Requests per minute of one client from one address. */
  perMinute: number;
}

/** Handles `POST /api/oauth/token`: exchanges a client ID and client secret for an access token. */
export function tokenEndpoint({
  merchant: of,
  logger,
  rates,
  refusals,
  perMinute,
}: TokenEndpointOptions): RequestHandler {
  const router = Router();
  router.use((_request, response, next) => {
    response.setHeader("cache-control", "no-store");
    response.setHeader("pragma", "no-cache");
    next();
  });
  // If the plan can't be read, the error has the form of this endpoint too (RFC 6749)
  router.use(async (_request, response, next) => {
    const plan = await of?.merchantPlan.of("current");
    if (plan?.name === "none") refuseWithoutMerchantPlan(response);
    else next();
  });
  router.use(requirePost);
  const options = { limit: maxBodyBytes, verify: verifyUtf8 };
  router.use(json(options), urlencoded({ ...options, extended: false }));
  router.use(limitTokenRequests(rates, perMinute));
  router.use(async (request, response) => {
    const { client, scopes: requestedScopes } = readTokenRequest(request);
    if (!of) throw invalidClient();
    const { credentialId, scopes: grantedScopes } = await authenticate(
      of.pool,
      client.accessKey,
      client.secret,
    );
    const scopes = narrowScopes(grantedScopes, requestedScopes);
    const accessToken = await of.tokens.issue({ credentialId, accessKey: client.accessKey, scopes });
    response.json({
      token_type: "Bearer",
      expires_in: accessTokenSeconds,
      access_token: accessToken,
      scope: scopes.join(" "),
    });
  });
  router.use(sendOAuthError(logger, refusals));
  return router;
}

const requirePost: RequestHandler = ({ method }, response, next) => {
  if (method === "POST") return next();
  response.setHeader("allow", "POST");
  throw new OAuthError(405, "invalid_request", "Request a token by POST.");
};

async function authenticate(pool: Pool, accessKey: string, secret: string) {
  const hash = hashSecret(secret);
  // Postgres refuses null characters. No client ID is empty
  const key = accessKey.includes("\0") ? "" : accessKey;
  const [credential] = await readAs<{ id: string; scopes: string[] }>(
    pool,
    "service_auth",
    "select credential_id as id, scopes from auth.authenticate_credential($1, $2)",
    [key, hash],
  );
  if (!credential) throw invalidClient();
  return { credentialId: credential.id, scopes: credential.scopes };
}

/** Returns the scopes of the token: the requested ones, or all. Writing a resource includes reading it. */
function narrowScopes(grantedScopes: string[], requestedScopes: string[] | null): string[] {
  if (!requestedScopes) return grantedScopes;
  const missing = requestedScopes.find((scope) => !grantedScopes.includes(scope));
  if (missing !== undefined) {
    throw new OAuthError(400, "invalid_scope", "The API credential lacks one of the requested scopes.");
  }
  return [...new Set(requestedScopes.flatMap((scope) => [scope, scope.replace(/:write$/, ":read")]))];
}

function sendOAuthError(logger: Logger, refusals: Refusals): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const { requestId } = response.locals;
    const { status, code, message } = oauthError(error, (level) => {
      logger[level]({ requestId, err: error }, "token exchange failed");
    });
    // RFC 9110 §15.5.2 requires a challenge with every 401, RFC 6749 only for clients that tried Basic
    if (status === 401) response.setHeader("www-authenticate", 'Basic realm="service", charset="UTF-8"');
    if (status === 503) response.setHeader("retry-after", "1");
    if (status < 500) refusals.note(code, request.ip ?? "", { requestId: response.locals.requestId, status });
    response.status(status).json({ error: code, error_description: message });
  };
}

function oauthError(error: unknown, log: (level: "warn" | "error") => void): OAuthError {
  if (error instanceof OAuthError) return error;
  if (error instanceof Error && "type" in error && "status" in error) {
    // Thrown by Express's body parsers
    if (error.status === 413) return new OAuthError(413, "invalid_request", "The body is too large.");
    return invalidRequest("The body can't be read: it doesn't match its Content-Type.");
  }
  const failure = databaseFailure(error);
  const isAway = failure !== null && failure.code !== "BAD_USER_INPUT";
  log(isAway ? "warn" : "error");
  if (isAway) {
    return new OAuthError(
      503,
      "temporarily_unavailable",
      "Tokens can't be issued at the moment. Try again later.",
    );
  }
  return new OAuthError(500, "server_error", "Something went wrong on our side.");
}
