import { listSigningKeys, retireSigningKey, rotateSigningKey } from "../auth/rotate-signing-keys.ts";
import type { StoredKeyOverview } from "../auth/rotate-signing-keys.ts";
import { configuredKeyId } from "../auth/signing-keys.ts";
import { newValuationKey } from "../jobs/sign-heads.ts";
import { encryptStored } from "../secrets/encrypt-stored.ts";
import { readStoredSecrets, requireKeysFor } from "../secrets/require-keys.ts";
import { Secrets } from "../secrets/secrets.ts";
import { readSettings } from "../process/settings.ts";
import { UserError } from "../errors/user-error.ts";
import { table } from "./terminal.ts";
import type { Result } from "./terminal.ts";
import { asOwner } from "./with-database.ts";

/** A key as `list` shows it. */
interface ListedKey {
  kid: string;
  created_at: Date | null;
  state: "signs" | "verifies" | "retired" | "unused";
  until: Date | null;
  from: string;
}

export async function listKeys(): Promise<Result> {
  const { tokenSigningKeys: configured } = readSettings();
  const stored = (await asOwner(listSigningKeys)).map((key) => listed(key, configured.length > 0));
  const keys = [...configured.map(listedOfEnvironment), ...stored];
  return {
    json: keys,
    text: keys.length > 0 ? tableOf(keys) : "There is no key yet: the first start makes one.",
  };
}

export async function rotateKeys(): Promise<Result> {
  const { tokenSigningKeys: configured, secretsKeys } = readSettings();
  if (configured.length > 0)
    throw new UserError(
      "The keys come from the environment (TOKEN_SIGNING_KEY), not from the database. Add a new one there after the others\n" +
        "and restart the processes; then put it first, and restart them again. docs/guides/keys.md says more.",
    );
  const { id, overlapEndsAt } = await asOwner((owner) => rotateSigningKey(owner, new Secrets(secretsKeys)));
  return {
    json: { kid: id, overlap_ends_at: overlapEndsAt },
    text: `${id} signs access tokens from now on. The previous key is accepted until ${overlapEndsAt.toISOString()}.`,
  };
}

/** Replaces the key that signs heads of stock valuation reports. */
export async function rotateValuationKey(): Promise<Result> {
  const secrets = new Secrets(readSettings().secretsKeys);
  const key = newValuationKey(secrets);
  const [kid, x] = key;
  await asOwner(async (owner) => {
    // The key that is replaced may be unreadable
    const others = (await readStoredSecrets(owner)).filter(({ kind }) => kind !== "valuation key");
    requireKeysFor(others, secrets);
    await owner.query("select valuation.rotate_signing_key($1, $2, $3)", key);
  });
  return {
    json: { kid, x },
    text: `${kid} signs heads of stock valuation reports from now on. Its public key (Ed25519) is ${x}.`,
  };
}

export async function retireKey(id: string, { now = false }: { now?: boolean }): Promise<Result> {
  await asOwner((owner) => retireSigningKey(owner, id, now));
  return {
    json: { kid: id, state: "retired" },
    text: `${id} has retired. Tokens that it has signed are refused.`,
  };
}

export async function encryptSecrets(): Promise<Result> {
  const secrets = new Secrets(readSettings().secretsKeys);
  const counts = await asOwner((owner) => encryptStored(owner, secrets));
  const keys = counts["signing key"] + counts["valuation key"];
  const { "webhook secret": webhooks, "carrier secret": carriers } = counts;
  const kept = `${keys} signing keys, ${webhooks} secrets of webhooks and ${carriers} of carriers`;
  const done = `Encrypted with ${secrets.currentKeyId}: ${kept}.`;
  return {
    json: {
      key_id: secrets.currentKeyId,
      signing_keys: keys,
      webhook_secrets: webhooks,
      carrier_secrets: carriers,
    },
    text: keys + webhooks + carriers === 0 ? `${done} All were encrypted already.` : done,
  };
}

function listed(
  { id, createdAt, retiresAt, state, secretsKeyId }: StoredKeyOverview,
  isUnused: boolean,
): ListedKey {
  const kept = secretsKeyId === null ? "database, plain" : `database, encrypted with ${secretsKeyId}`;
  return {
    kid: id,
    created_at: createdAt,
    until: retiresAt,
    state: isUnused && state !== "retired" ? "unused" : state,
    from: state === "retired" ? "database, erased" : kept,
  };
}

function listedOfEnvironment(text: string, index: number): ListedKey {
  const state = index === 0 ? "signs" : "verifies";
  return { kid: configuredKeyId(text), created_at: null, state, until: null, from: "environment" };
}

const states: Record<ListedKey["state"], (until: string | undefined) => string> = {
  signs: () => "signs",
  verifies: (until) => (until === undefined ? "verifies" : `verifies until ${until}`),
  retired: (until) => `retired since ${until}`,
  unused: () => "unused: the environment gives keys",
};

const tableOf = (keys: readonly ListedKey[]): string =>
  table([
    ["KID", "CREATED", "STATE", "FROM"],
    ...keys.map(({ kid, created_at: createdAt, state, until, from }) => [
      kid,
      createdAt?.toISOString() ?? "-",
      states[state](until?.toISOString()),
      from,
    ]),
  ]);
