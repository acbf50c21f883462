import type { KeyObject } from "node:crypto";
import { randomUUID } from "node:crypto";
import jwt from "jsonwebtoken";
import type { Jwt, VerifyOptions } from "jsonwebtoken";
import { LRUCache } from "lru-cache";
import { lruLimit } from "../lib/at-most.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** Lifetime of an access token, in seconds. */
export const accessTokenSeconds = 600;

/** The issuer of access tokens in a service with one merchant. */
export const defaultIssuer = "urn:service:tokens";
/** Returns the issuer of one merchant's tokens. A merchant only accepts its own issuer, even if keys are equal. */
export const issuerFor = (merchant: string): string => `${defaultIssuer}:${merchant}`;
/** Returns the merchant that an issuer belongs to; undefined when it belongs to none. */
export const merchantFromIssuer = (issuer: unknown): string | undefined =>
  typeof issuer === "string" && issuer.startsWith(issuerFor(""))
    ? issuer.slice(issuerFor("").length)
    : undefined;
/** The audience of access tokens for the GraphQL API. */
const apiAudience = "urn:service:graphql-api";
const tokenType = "at+jwt";
const algorithm = "HS256";

/** The claims of an access token. */
export interface AccessTokenClaims {
  credentialId: string;
  /** The client ID that the token was issued for. */
  accessKey: string;
  scopes: readonly string[];
}

/** The reason why a token is refused. */
export class TokenRefusal extends Error {
  /** `invalid`: not issued by this service, or expired. `foreign`: valid, but not usable for the GraphQL API. */
  readonly kind: "invalid" | "foreign";

  constructor(kind: TokenRefusal["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Creates the refusal of a token whose client ID is no longer active. */
export const credentialEnded = (): TokenRefusal =>
  new TokenRefusal("foreign", "The API credential of this token has been deactivated, rotated or deleted.");

interface Verified {
  claims: AccessTokenClaims;
  /** In milliseconds since 1970. */
  expiresAt: number;
  /** The id of the key that signed it. */
  keyId: string;
}

/** Signs and verifies access tokens: JWTs as in RFC 9068, signed with HMAC-SHA256. */
export class AccessTokens {
  readonly #keys: SigningKeys;
  readonly #now: () => number;
  readonly #issuer: string;
  // Clients send the same token for ten minutes, so its signature is verified once. The credential
  // (active-credentials.ts) and the signing key may change meanwhile, so they are checked each time
  readonly #verified = new LRUCache<string, Verified>(lruLimit(10_000));

  /** @param now the time in milliseconds since 1970 */
  constructor(keys: SigningKeys, now: () => number, issuer = defaultIssuer) {
    this.#keys = keys;
    this.#now = now;
    this.#issuer = issuer;
  }

  /** Issues a new token, valid for {@link accessTokenSeconds}. */
  async issue(
    { credentialId, accessKey, scopes }: AccessTokenClaims,
    audience = apiAudience,
  ): Promise<string> {
    const { id, key } = await this.#keys.current();
    const iat = Math.floor(this.#now() / 1000);
    const claims = { client_id: accessKey, scope: scopes.join(" "), iat };
    return jwt.sign(claims, key, {
      header: { alg: algorithm, typ: tokenType, kid: id },
      algorithm,
      issuer: this.#issuer,
      audience,
      subject: credentialId,
      jwtid: randomUUID(),
      expiresIn: accessTokenSeconds,
    });
  }

  /** Whether a token has been verified before, so that verifying it again takes almost no time. */
  isKnown(token: string): boolean {
    return this.#verified.has(token);
  }

  /**
   * Verifies a token and returns its claims.
   *
   * @throws {TokenRefusal} when it isn't a valid token for the GraphQL API
   */
  async verify(token: string): Promise<AccessTokenClaims> {
    let verified = this.#verified.get(token);
    // The signing key may have been retired since
    if (!verified || !(await this.#keys.find(verified.keyId))) {
      verified = await this.#verify(token);
      this.#verified.set(token, verified);
    }
    if (verified.expiresAt <= this.#now()) {
      this.#verified.delete(token);
      throw expired();
    }
    return verified.claims;
  }

  async #verify(token: string): Promise<Verified> {
    const keyId = decode(token)?.header.kid;
    const key = typeof keyId === "string" ? await this.#keys.find(keyId) : undefined;
    if (keyId === undefined || !key) throw invalid();
    const clockTimestamp = Math.floor(this.#now() / 1000);
    const { header, payload } = check(token, key, { clockTimestamp, issuer: this.#issuer });
    if (typeof payload === "string") throw invalid();
    const { aud, sub, exp, iat, client_id: accessKey, scope } = payload;
    if (typeof sub !== "string" || exp === undefined || iat === undefined) throw invalid();
    if (
      aud !== apiAudience ||
      header.typ !== tokenType ||
      typeof accessKey !== "string" ||
      typeof scope !== "string"
    ) {
      throw new TokenRefusal("foreign", "The token is valid, but not an access token of this API.");
    }
    const scopes = scope.split(" ").filter(Boolean);
    return { claims: { credentialId: sub, accessKey, scopes }, expiresAt: exp * 1000, keyId };
  }
}

/** Returns the unverified content of a token; null when it isn't a JWT. */
function decode(token: string): Jwt | null {
  try {
    return jwt.decode(token, { complete: true });
  } catch {
    return null;
  }
}

/** @throws {TokenRefusal} when the signature is not by this key, the issuer is another, or the token has expired */
function check(token: string, key: KeyObject, options: VerifyOptions): Jwt {
  try {
    return jwt.verify(token, key, { ...options, algorithms: [algorithm], complete: true });
  } catch (error) {
    if (error instanceof jwt.TokenExpiredError) throw expired();
    if (error instanceof jwt.JsonWebTokenError) throw invalid();
    throw error;
  }
}

const invalid = () => new TokenRefusal("invalid", "The access token is not valid.");
const expired = () =>
  new TokenRefusal("invalid", "The access token has expired. Request a new one from the token endpoint.");
