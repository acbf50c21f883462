import type { KeyObject } from "node:crypto";
import { createSecretKey } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import jwt from "jsonwebtoken";
import type { JwtPayload } from "jsonwebtoken";
import { LRUCache } from "lru-cache";

/** Settings of the database transaction about the caller. */
export type Claims = Record<"role" | "service.scopes" | "service.credential_id", string>;

const key: KeyObject = createSecretKey(process.env.TOKEN_SIGNING_KEY ?? "", "utf8");
const known = new LRUCache<string, { claims: Claims; expiresAt: number }>({ max: 10_000 });

/**
 * Reads the caller from the access token of a request. All contestants except the service use this to check tokens: the
 * signature once, the expiry each time.
 *
 * @throws without a valid token
 */
export async function readClaims({ authorization = "" }: IncomingHttpHeaders): Promise<Claims> {
  const token = authorization.slice("Bearer ".length);
  let entry = known.get(token);
  if (!entry) {
    const payload = jwt.verify(token, key, {
      algorithms: ["HS256"],
      issuer: "urn:service:tokens",
      audience: "urn:service:graphql-api",
    }) as JwtPayload;
    const claims = {
      role: "service_api",
      "service.scopes": payload.scope as string,
      "service.credential_id": payload.sub!,
    };
    entry = { claims, expiresAt: payload.exp! * 1000 };
    known.set(token, entry);
  }
  if (entry.expiresAt <= Date.now()) throw new Error("The token has expired.");
  return entry.claims;
}
