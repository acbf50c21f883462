import type { AccessTokenClaims } from "./access-token.ts";
import type { CredentialRights } from "./active-credentials.ts";

/** The caller of a request, identified by an access token. */
export interface Caller {
  /** The id of the API credential. */
  readonly credentialId: string;
  /** The token's scopes that its API credential still has. */
  readonly scopes: ReadonlySet<string>;
  /** These scopes, separated by spaces, as in the database setting service.scopes. */
  readonly scopeText: string;
  /** Whether it may send stored operations only. */
  readonly storedOperationsOnly?: boolean;
  /** The access token's claims; undefined for work that continues without a token. */
  readonly claims?: AccessTokenClaims;
}

// Claims and rights stay the same objects while nothing changes, so each pair is computed once
const callers = new WeakMap<AccessTokenClaims, { allowed: CredentialRights; caller: Caller }>();

/** Returns a caller with the scopes that both the token and its API credential have now. */
export function callerOf(claims: AccessTokenClaims, allowed: CredentialRights): Caller {
  const before = callers.get(claims);
  if (before?.allowed === allowed) return before.caller;
  const scopes = claims.scopes.filter((scope) => allowed.scopes.has(scope));
  const { credentialId } = claims;
  const { storedOperationsOnly } = allowed;
  const scopeText = scopes.join(" ");
  const caller = { credentialId, scopes: new Set(scopes), scopeText, storedOperationsOnly, claims };
  callers.set(claims, { allowed, caller });
  return caller;
}
