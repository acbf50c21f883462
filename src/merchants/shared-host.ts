import type { IncomingMessage } from "node:http";
import { merchantFromIssuer } from "../auth/access-token.ts";
import { isEventsUrl } from "../http/middleware/reading/events-endpoint.ts";
import { isGraphqlUrl } from "../http/middleware/access/find-version.ts";
import { parseBasic } from "../http/oauth/client-credentials.ts";
import { tokenPath } from "../http/oauth/metadata.ts";
import type { Directory } from "./directory.ts";
import type { Merchant } from "./merchant.ts";

/** The maximum length of an `Authorization` header that is read. */
const maxCharacters = 8_000;
const bearer = /^Bearer +[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+ *$/i;
/** A merchant's name and, after a dot, the client ID that the merchant knows. */
const clientPattern = /^([a-z][a-z0-9-]*)\.(.+)$/s;

const upload = /^\/api\/bulk\/[a-z]+$/;

/** Kind of a request to a host of several merchants. */
export type RequestKind = "token" | "api" | "other";

/** Classifies a request. Pages need no token and would reveal which merchants exist, so shared hosts don't have them. */
export function classifyRequest({ url }: IncomingMessage): RequestKind {
  const path = url!.replace(/^https?:\/\/[^/?#]*/i, "").split("?", 1)[0]!;
  if (path === tokenPath) return "token";
  return isGraphqlUrl(url!) || isEventsUrl(url!) || upload.test(path) ? "api" : "other";
}

/**
 * Finds the merchant of a request to a shared host by its client id, which is rewritten to the merchant's own, or by the
 * issuer of its access token. Nothing is verified here: the merchant checks the secret or signature.
 */
export function findMerchantByClient(directory: Directory, request: IncomingMessage): Merchant | undefined {
  const { authorization = "" } = request.headers;
  if (authorization.length > maxCharacters) return undefined;
  const kind = classifyRequest(request);
  if (kind === "token") return findByClientId(directory, request, authorization);
  return kind === "api" ? findByIssuer(directory, authorization) : undefined;
}

function findByClientId(
  directory: Directory,
  request: IncomingMessage,
  authorization: string,
): Merchant | undefined {
  const given = parseBasic(authorization);
  const [, name, accessKey] = clientPattern.exec(given?.accessKey ?? "") ?? [];
  const merchant = name === undefined ? undefined : directory.findByName(name);
  if (!given || !merchant) return undefined;
  const pair = [accessKey!, given.secret].map(encodeURIComponent).join(":");
  request.headers.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
  return merchant;
}

function findByIssuer(directory: Directory, authorization: string): Merchant | undefined {
  const [, payload] = bearer.exec(authorization) ?? [];
  if (payload === undefined) return undefined;
  const name = merchantFromIssuer(readIssuer(payload));
  return name === undefined ? undefined : directory.findByName(name);
}

/** Returns the issuer in the payload of a JWT. */
function readIssuer(payload: string): unknown {
  try {
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as { iss?: unknown } | null;
    return claims?.iss;
  } catch {
    return undefined;
  }
}
