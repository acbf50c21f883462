import { randomUUID } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import type { SigningKeys } from "./signing-keys.ts";

/** How long an access token lasts, in seconds. */
export const accessTokenLifetime = 600;

const issuer = "urn:service:tokens";
/** The audience of tokens for the GraphQL API. Other kinds of token, such as sessions, name another. */
const apiAudience = "urn:service:graphql-api";
const tokenType = "at+jwt";

/** What an access token says. */
export interface AccessTokenClaims {
  credentialId: string;
  /** The access key that the token was issued for. */
  accessKey: string;
  scopes: readonly string[];
}

/** Why a token is refused. */
export class TokenRefusal extends Error {
  /** `invalid`: no token of ours, or expired. `foreign`: ours and valid, but not for the GraphQL API. */
  readonly kind: "invalid" | "foreign";

  constructor(kind: TokenRefusal["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

interface Verified {
  claims: AccessTokenClaims;
  /** In milliseconds since 1970. */
  expiresAt: number;
}

/** Signs and verifies access tokens: JWTs of the profile of RFC 9068, signed with HMAC-SHA256. */
export class AccessTokens {
  readonly #keys: SigningKeys;
  readonly #now: () => number;
  // Clients send the same token with every request for ten minutes, so its signature is verified once. What can
  // change in these minutes, the credential, is looked at each time (active-credentials.ts).
  readonly #verified = new LRUCache<string, Verified>({ max: 10_000 });

  /** @param now what time it is, in milliseconds since 1970 */
  constructor(keys: SigningKeys, now: () => number) {
    this.#keys = keys;
    this.#now = now;
  }

  /** A new token, valid from now on for {@link accessTokenLifetime}. */
  issue({ credentialId, accessKey, scopes }: AccessTokenClaims, audience = apiAudience): Promise<string> {
    const { currentId, byId } = this.#keys;
    const issuedAt = Math.floor(this.#now() / 1000);
    return new SignJWT({ client_id: accessKey, scope: scopes.join(" ") })
      .setProtectedHeader({ alg: "HS256", typ: tokenType, kid: currentId })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(credentialId)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + accessTokenLifetime)
      .sign(byId.get(currentId)!);
  }

  /**
   * What a token says.
   *
   * @throws {TokenRefusal} when it isn't a valid token for the GraphQL API
   */
  async verify(token: string): Promise<AccessTokenClaims> {
    let verified = this.#verified.get(token);
    if (!verified) {
      verified = await this.#verify(token);
      this.#verified.set(token, verified);
    }
    if (verified.expiresAt <= this.#now()) {
      this.#verified.delete(token);
      throw new TokenRefusal(
        "invalid",
        "The access token has expired. Exchange the credential for a new one.",
      );
    }
    return verified.claims;
  }

  async #verify(token: string): Promise<Verified> {
    const { payload, protectedHeader } = await jwtVerify(token, ({ kid = "" }) => this.#keyOf(kid), {
      algorithms: ["HS256"],
      issuer,
      requiredClaims: ["sub", "exp", "iat"],
      currentDate: new Date(this.#now()),
    }).catch((error: unknown) => {
      if (error instanceof errors.JWTExpired) {
        throw new TokenRefusal(
          "invalid",
          "The access token has expired. Exchange the credential for a new one.",
        );
      }
      if (error instanceof errors.JOSEError)
        throw new TokenRefusal("invalid", "The access token is not valid.");
      throw error;
    });
    const { aud, sub, exp, client_id: accessKey, scope } = payload;
    if (
      aud !== apiAudience ||
      protectedHeader.typ !== tokenType ||
      typeof accessKey !== "string" ||
      typeof scope !== "string"
    ) {
      throw new TokenRefusal("foreign", "The token is valid, but not an access token of this API.");
    }
    const scopes = scope.split(" ").filter(Boolean);
    return { claims: { credentialId: sub!, accessKey, scopes }, expiresAt: exp! * 1000 };
  }

  #keyOf(id: string) {
    const key = this.#keys.byId.get(id);
    if (!key) throw new errors.JWKSNoMatchingKey();
    return key;
  }
}
