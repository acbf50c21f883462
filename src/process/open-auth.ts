import type { Pool } from "pg";
import type { Logger } from "pino";
import { AccessTokens, issuerFor } from "../auth/access-token.ts";
import { activeCredentials } from "../auth/active-credentials.ts";
import { InvalidatedCache } from "../auth/invalidated-cache.ts";
import type { ReadMark } from "../auth/invalidated-cache.ts";
import { currentMerchantPlan } from "../auth/merchant-plan.ts";
import { openSigningKeys } from "../auth/stored-signing-keys.ts";
import { storedOperations } from "../auth/stored-operations.ts";
import { Usage } from "../auth/usage.ts";
import type { Closing } from "../lib/closing.ts";
import type { Readiness } from "../lib/readiness.ts";
import { requireSecretsKeys } from "../secrets/require-keys.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type { Settled } from "./app-settings.ts";
import type { SharedParts } from "./shared-parts.ts";

/**
 * Milliseconds after which one merchant of many writes its counts of use at the latest. That takes a connection and as
 * much of Postgres as two requests.
 */
const countsOfManyMs = 120_000;

/** Rights: credentials, tokens, the plan. */
export async function openAuth({
  pool,
  readMark,
  logger,
  settings,
  secrets,
  readiness,
  now,
  closing,
  shared,
}: AuthOptions) {
  const { tokenSigningKeys, limits } = settings;
  const needed = [
    "webhook secret" as const,
    ...(tokenSigningKeys.length > 0 ? [] : ["signing key" as const]),
  ];
  // One of many is opened again and again: what can't be decrypted is found where it is used
  if (!shared) await requireSecretsKeys(pool, secrets, needed, logger);
  const first = shared?.firstRights;
  const ofShared = shared ? { places: shared.places, mark: shared.firstRights.mark } : {};
  const cache = new InvalidatedCache(pool, logger, readMark, ofShared);
  closing.add(() => cache.close());
  if (!first) await cache.look();
  const ofMany = shared && { intervalMs: countsOfManyMs, onWritten: shared.onCounted, inTurn: shared.inTurn };
  const usage = new Usage(pool, logger, ofMany ?? {});
  closing.add(() => usage.close());
  const issuer = shared ? issuerFor(shared.merchant) : undefined;
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

interface AuthOptions {
  pool: Pool;
  readMark: ReadMark;
  logger: Logger;
  settings: Settled;
  secrets: Secrets;
  readiness: Readiness;
  now: () => number;
  closing: Closing;
  shared: SharedParts | null;
}
