import type { AccessTokenClaims } from "./access-token.ts";
import type { Allowed } from "./active-credentials.ts";

/** The caller, as proved by an access token. */
export interface Caller {
  /** Id of the API credential. */
  readonly credentialId: string;
  /** Scopes of the token that its credential still has. */
  readonly scopes: ReadonlySet<string>;
  /** The same, separated by spaces, as in the database setting service.scopes. */
  readonly scopeText: string;
  /** Whether its requests may have stored operations only. */
  readonly storedOperationsOnly?: boolean;
  /** Of the access token; none where work continues without one. */
  readonly claims?: AccessTokenClaims;
}

// Claims and allowed scopes stay the same objects while nothing changes, so each pair is computed once.
const known = new WeakMap<AccessTokenClaims, { allowed: Allowed; caller: Caller }>();

/** A caller with the scopes that both the token and its credential have now. */
export function callerOf(claims: AccessTokenClaims, allowed: Allowed): Caller {
  const before = known.get(claims);
  if (before?.allowed === allowed) return before.caller;
  const scopes = claims.scopes.filter((scope) => allowed.scopes.has(scope));
  const { credentialId } = claims;
  const { storedOperationsOnly } = allowed;
  const scopeText = scopes.join(" ");
  const caller = { credentialId, scopes: new Set(scopes), scopeText, storedOperationsOnly, claims };
  known.set(claims, { allowed, caller });
  return caller;
}
