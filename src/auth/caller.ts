import type { AccessTokenClaims } from "./access-token.ts";

/** Who asks, as proved by an access token. */
export interface Caller {
  /** Id of the API credential. */
  readonly credentialId: string;
  /** Scopes of the token that its credential still has. */
  readonly scopes: ReadonlySet<string>;
  /** The same, separated by spaces, as the database setting service.scopes has them. */
  readonly scopeText: string;
}

// Claims and allowed scopes are the same objects as long as nothing changes, so each pair is worked out once.
const known = new WeakMap<AccessTokenClaims, { allowed: ReadonlySet<string>; caller: Caller }>();

/** A caller who may do what both the token and, by now, its credential allow. */
export function callerOf(claims: AccessTokenClaims, allowed: ReadonlySet<string>): Caller {
  const before = known.get(claims);
  if (before?.allowed === allowed) return before.caller;
  const scopes = claims.scopes.filter((scope) => allowed.has(scope));
  const caller = { credentialId: claims.credentialId, scopes: new Set(scopes), scopeText: scopes.join(" ") };
  known.set(claims, { allowed, caller });
  return caller;
}
