import type { Request } from "express";
import { parseBasic } from "./client-credentials.ts";
import type { PresentedCredentials } from "./client-credentials.ts";
import { invalidClient, invalidRequest, OAuthError } from "./oauth-error.ts";

/** A valid request for an access token. */
export interface TokenRequest {
  client: PresentedCredentials;
  /** The requested scopes; null for all scopes of the API credential. */
  scopes: string[] | null;
}

/**
 * Reads a token request with the client credentials grant (RFC 6749 §4.4). The client may authenticate in the body, as
 * JSON or a form, or by HTTP Basic.
 *
 * @throws {OAuthError} when it is invalid
 */
export function readTokenRequest(request: Request): TokenRequest {
  const parameters = readParameters(request.body);
  const grantType = parameters.get("grant_type");
  if (grantType === undefined) throw invalidRequest("grant_type is missing.");
  if (grantType !== "client_credentials") {
    throw new OAuthError(
      400,
      "unsupported_grant_type",
      "The only supported grant_type is client_credentials.",
    );
  }
  const scopes = parameters.get("scope")?.split(" ").filter(Boolean);
  return {
    client: readClient(request.get("authorization"), parameters),
    scopes: scopes?.length ? scopes : null,
  };
}

/** Returns the parameters that have a value: an empty one counts as omitted (RFC 6749 §3.2). */
function readParameters(body: unknown): Map<string, string> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalidRequest("Send a JSON object or a form, with the matching Content-Type.");
  }
  const parameters = new Map<string, string>();
  for (const [name, value] of Object.entries(body)) {
    if (Array.isArray(value)) throw invalidRequest(`${name} is given more than once.`);
    if (value === null || value === "") continue;
    if (typeof value !== "string") throw invalidRequest(`${name} must be a string.`);
    parameters.set(name, value);
  }
  return parameters;
}

function readClient(header: string | undefined, parameters: Map<string, string>): PresentedCredentials {
  const accessKey = parameters.get("client_id");
  const secret = parameters.get("client_secret");
  if (header === undefined) {
    if (accessKey === undefined || secret === undefined) throw invalidClient();
    return { accessKey, secret };
  }
  if (secret !== undefined)
    throw invalidRequest("The client authenticates both in the header and in the body.");
  const presented = parseBasic(header);
  if (!presented) throw invalidClient();
  if (accessKey !== undefined && accessKey !== presented.accessKey) {
    throw invalidRequest("The client_id in the body differs from the one in the header.");
  }
  return presented;
}
