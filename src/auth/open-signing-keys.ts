import type { Readiness } from "../lib/readiness.ts";
import { ConfiguredSigningKeys } from "./signing-keys.ts";
import type { SigningKeys } from "./signing-keys.ts";
import type { StoredSigningKeysOptions } from "./stored-signing-keys.ts";
import { StoredSigningKeys } from "./stored-signing-keys.ts";

/**
 * The keys that sign access tokens: those of the environment, or else those of the database.
 *
 * @param configured at least 32 characters each
 * @throws {UserError} when the signing key of the database can't be decrypted
 */
export async function openSigningKeys(
  configured: readonly string[],
  { readiness, ...options }: StoredSigningKeysOptions & { readiness: Readiness },
): Promise<SigningKeys> {
  if (configured.length > 0) return new ConfiguredSigningKeys(configured);
  const keys = await StoredSigningKeys.open(options);
  readiness.add("keys", () => keys.obstacle);
  return keys;
}
