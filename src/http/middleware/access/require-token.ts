import type { Logger } from "pino";
import { refuse, sendErrors } from "../../answers.ts";
import { clientError } from "../../../errors/client-errors.ts";
import type { AccessTokens } from "../../../auth/access-token.ts";
import { credentialEnded, TokenRefusal } from "../../../auth/access-token.ts";
import type { ActiveCredentials } from "../../../auth/active-credentials.ts";
import type { Caller } from "../../../auth/caller.ts";
import { callerOf } from "../../../auth/caller.ts";
import type { SessionCheck } from "../../../auth/session-token.ts";
import { sessionTokenPrefix } from "../../../auth/session-token.ts";
import type { EventLoopQueue } from "../../../lib/event-loop-queue.ts";
import type { Request, Middleware, Response } from "../../pipeline.ts";

/** The owner in the queue for requests whose token hasn't been verified yet, in place of a credential's id. */
const unverifiedOwner = "";
const bearer = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Identifies the caller of a request.
 *
 * @throws {TokenRefusal} when its token is missing or no longer valid
 */
export type Identify = (request: Request) => Promise<Caller>;

export const createIdentify =
  (tokens: AccessTokens, credentials: ActiveCredentials): Identify =>
  (request) =>
    identify(readToken(request), tokens, credentials);

/** A client ID or client secret, which clients exchange for access tokens. */
const credentialPrefix = /^(ak|sk)_/;
/** Longest possible token, in characters. */
const maxTokenCharacters = 8_000;

/**
 * Refuses requests without a valid access token, and identifies the caller.
 * - 401 with a challenge (RFC 6750) and the code UNAUTHENTICATED: the token is missing, expired or damaged. A new token
 *   helps.
 * - 403 with the code UNAUTHORIZED: the token is of another kind, or its credential is deactivated, rotated or deleted.
 *   After a 401 clients would fetch a new token and try again, which can't help here.
 */
export function requireToken(
  tokens: AccessTokens,
  credentials: ActiveCredentials,
  logger: Logger,
  isSessionToken: SessionCheck,
  addressOf: (request: Request) => string,
  turns: EventLoopQueue,
): Middleware<never, "caller"> {
  return async (request, response, next) => {
    let caller: Caller;
    try {
      const token = readToken(request);
      // All requests with unverified tokens share one line
      if (!tokens.isKnown(token)) await turns.waitForTurn(unverifiedOwner);
      if (token.startsWith(sessionTokenPrefix) && (await isSessionToken(token, addressOf(request))))
        throw new TokenRefusal("foreign", "The token belongs to a session of the administration.");
      caller = await identify(token, tokens, credentials);
    } catch (error) {
      if (error instanceof TokenRefusal) return refuseToken(request, response, error);
      const { requestId } = response.locals;
      response.setHeader("retry-after", "1");
      return sendErrors(request, response, 503, [clientError(error, { requestId, logger })]);
    }
    next({ caller });
  };
}

function readToken({ headers }: Request): string {
  const header = headers.authorization;
  if (header === undefined) throw new MissingToken();
  const token = bearer.exec(header)?.[1];
  if (token === undefined) {
    throw new TokenRefusal(
      "invalid",
      "The Authorization header doesn't have the form “Bearer <access token>”.",
    );
  }
  const mistaken = credentialPrefix.exec(token)?.[1];
  if (mistaken !== undefined) throw new TokenRefusal("invalid", explainMistake(mistaken));
  if (token.length > maxTokenCharacters) throw new TokenRefusal("invalid", "The access token is not valid.");
  return token;
}

const explainMistake = (prefix: string): string =>
  `This is the client ${prefix === "sk" ? "secret" : "ID"} of an API credential, not an access token. Send client_id and ` +
  "client_secret to /api/oauth/token, and then use the access token that it returns.";

async function identify(
  token: string,
  tokens: AccessTokens,
  credentials: ActiveCredentials,
): Promise<Caller> {
  const claims = await tokens.verify(token);
  const allowed = await credentials.of(claims.accessKey);
  if (!allowed) throw credentialEnded();
  return callerOf(claims, allowed);
}

class MissingToken extends TokenRefusal {
  constructor() {
    super("invalid", "Send an access token: Authorization: Bearer <access token>.");
  }
}

/** Responds to a request whose token is refused. */
export function refuseToken(request: Request, response: Response, refusal: TokenRefusal): void {
  if (refusal.kind === "foreign") return refuse(request, response, 403, "UNAUTHORIZED", refusal.message);
  // RFC 6750 §3.1: a client that didn't try to authenticate gets no error code
  const { message } = refusal;
  const details = `, error="invalid_token", error_description="${toHeaderText(message)}"`;
  const error = refusal instanceof MissingToken ? "" : details;
  response.setHeader("www-authenticate", `Bearer realm="service"${error}`);
  return refuse(request, response, 401, "UNAUTHENTICATED", refusal.message);
}

/** Converts a text to what RFC 6750 §3 allows: printable ASCII, without quotation marks and backslashes. */
const toHeaderText = (text: string): string =>
  text.replaceAll(/[“”"\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, "");
