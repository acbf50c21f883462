import { AccessTokens } from "../auth/access-token.ts";
import { activeCredentials } from "../auth/active-credentials.ts";
import { InvalidatedCache } from "../auth/invalidated-cache.ts";
import type { ReadMark } from "../auth/invalidated-cache.ts";
import { currentMerchantPlan } from "../auth/merchant-plan.ts";
import { openSigningKeys } from "../auth/stored-signing-keys.ts";
import { storedOperations } from "../auth/stored-operations.ts";
import { Usage } from "../auth/usage.ts";
import { requireSecretsKeys } from "../secrets/require-keys.ts";
import type { Opening } from "./shared.ts";

/** Rights: credentials, tokens, the plan. */
export async function openAuth(
  { settings, pool, logger, now, secrets, readiness, closing, shared }: Opening,
  readMark: ReadMark,
) {
  const { tokenSigningKeys, limits } = settings;
  const { firstRights: first, issuer } = shared;
  if (!first) {
    const ownKeys = tokenSigningKeys.length === 0 ? (["signing key"] as const) : [];
    await requireSecretsKeys(pool, secrets, ["webhook secret", ...ownKeys], logger);
  }
  const cache = new InvalidatedCache(pool, logger, readMark, {
    listen: shared.listenWhileUsed,
    mark: first?.mark,
  });
  closing.add(() => cache.close());
  if (!first) await cache.look();
  const usage = new Usage(pool, logger, shared.usage);
  closing.add(() => usage.close());
  const forKeys = { pool, cache, secrets, logger, now, readiness, first: first?.keys };
  return {
    usage,
    rights: cache,
    outdateRights: () => cache.outdate(),
    credentials: activeCredentials(pool, cache),
    storedOperations: storedOperations(pool, cache),
    merchantPlan: currentMerchantPlan(pool, cache, { limits, logger, first: first?.plan ?? null }),
    tokens: new AccessTokens(await openSigningKeys(tokenSigningKeys, forKeys), now, issuer),
  };
}
