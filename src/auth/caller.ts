import type { AccessTokenClaims } from "./access-token.ts";

/** The caller, as proved by an access token. */
export interface Caller {
  /** Id of the API credential. */
  readonly credentialId: string;
  /** Scopes of the token that its credential still has. */
  readonly scopes: ReadonlySet<string>;
  /** The same, separated by spaces, as in the database setting service.scopes. */
  readonly scopeText: string;
}

// Claims and allowed scopes stay the same objects while nothing changes, so each pair is computed once.
const known = new WeakMap<AccessTokenClaims, { allowed: ReadonlySet<string>; caller: Caller }>();

/** A caller with the scopes that both the token and its credential have now. */
export function callerOf(claims: AccessTokenClaims, allowed: ReadonlySet<string>): Caller {
  const before = known.get(claims);
  if (before?.allowed === allowed) return before.caller;
  const scopes = claims.scopes.filter((scope) => allowed.has(scope));
  const caller = { credentialId: claims.credentialId, scopes: new Set(scopes), scopeText: scopes.join(" ") };
  known.set(claims, { allowed, caller });
  return caller;
}
