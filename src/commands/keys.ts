import { listSigningKeys, retireSigningKey, rotateSigningKey } from "../auth/rotate-signing-keys.ts";
import type { StoredKeyOverview } from "../auth/rotate-signing-keys.ts";
import { configuredKeyId } from "../auth/signing-keys.ts";
import { encryptStored } from "../secrets/encrypt-stored.ts";
import { Secrets } from "../secrets/secrets.ts";
import { readSettings } from "../process/settings.ts";
import type { Settings } from "../process/settings.ts";
import { UserError } from "../errors/user-error.ts";
import { atTheCommandLine } from "./command-line.ts";
import { withOwner } from "./owner.ts";
import { UsageError } from "./terminal.ts";

const usage = `Manages the keys that sign access tokens, and the encryption of secrets in the database.

Usage: npm run keys -- <command> [options]

  list              show the keys that sign access tokens; never the keys themselves
  rotate            make a new key that signs, in every process at once; the previous one is accepted
                    until its tokens have expired, and then retires by itself
  retire KID --now  refuse a key, and with it the tokens that it has signed, at once; the key that
                    signs can't be retired: rotate first
  encrypt           encrypt signing keys and secrets of webhooks that are plain, or encrypted with
                    another key, with the first key of SECRETS_KEY; can be run again at any time

Options:
  --json            print one line of JSON instead of text
  --help            print this

Works on the embedded Postgres, whether the service runs or not, or on DATABASE_URL, which then must be an
administrator's. Needs the SECRETS_KEY of the service. Exit code 0: done, 1: refused or failed, 2: invalid arguments.
`;

/** A key as `list` shows it. */
interface ListedKey {
  kid: string;
  created_at: Date | null;
  state: "signs" | "verifies" | "retired" | "unused";
  until: Date | null;
  from: string;
}

interface Result {
  json: unknown;
  text: string;
}

const commands: Record<string, (settings: Settings, id: string, isNow: boolean) => Promise<Result>> = {
  async list({ tokenSigningKeys: configured }) {
    const stored = (await withOwner(listSigningKeys)).map((key) => listed(key, configured.length > 0));
    const keys = [...configured.map(listedOfEnvironment), ...stored];
    return {
      json: keys,
      text: keys.length > 0 ? tableOf(keys) : "There is no key yet: the first start makes one.",
    };
  },
  async rotate({ tokenSigningKeys: configured, secretsKeys }) {
    if (configured.length > 0) {
      throw new UserError(
        "The keys come from the environment (TOKEN_SIGNING_KEY), not from the database. Add a new one there after the others\n" +
          "and restart the processes; then put it first, and restart them again. docs/operating.md says more.",
      );
    }
    const { id, overlapEndsAt } = await withOwner((owner) =>
      rotateSigningKey(owner, new Secrets(secretsKeys)),
    );
    return {
      json: { kid: id, overlap_ends_at: overlapEndsAt },
      text: `${id} signs access tokens from now on. The previous key is accepted until ${overlapEndsAt.toISOString()}.`,
    };
  },
  async retire(_settings, id, isNow) {
    await withOwner((owner) => retireSigningKey(owner, id, isNow));
    return {
      json: { kid: id, state: "retired" },
      text: `${id} has retired. Tokens that it has signed are refused.`,
    };
  },
  async encrypt({ secretsKeys }) {
    const secrets = new Secrets(secretsKeys);
    const counts = await withOwner((owner) => encryptStored(owner, secrets));
    const [keys, webhooks] = [counts["signing key"], counts["webhook secret"]];
    const json = { key_id: secrets.currentKeyId, signing_keys: keys, webhook_secrets: webhooks };
    const done = `Encrypted with ${secrets.currentKeyId}: ${keys} signing keys and ${webhooks} secrets of webhooks.`;
    return { json, text: keys + webhooks === 0 ? `${done} All were encrypted already.` : done };
  },
};

function listed(
  { id, createdAt, retiresAt, state, secretsKeyId }: StoredKeyOverview,
  isUnused: boolean,
): ListedKey {
  const kept = secretsKeyId === null ? "database, plain" : `database, encrypted with ${secretsKeyId}`;
  return {
    ...{ kid: id, created_at: createdAt, until: retiresAt },
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

function tableOf(keys: readonly ListedKey[]): string {
  const rows = [
    ["KID", "CREATED", "STATE", "FROM"],
    ...keys.map(({ kid, created_at: createdAt, state, until, from }) => [
      ...[kid, createdAt?.toISOString() ?? "-", states[state](until?.toISOString()), from],
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

const options = {
  now: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
} as const;

await atTheCommandLine({ usage, options, arguments: 2 }, async (values, positionals) => {
  const [name, id] = positionals;
  if (name === undefined) throw new UsageError("Which command?");
  if (!Object.hasOwn(commands, name)) throw new UsageError(`There is no command “${name}”.`);
  const takesId = name === "retire";
  if (takesId !== (id !== undefined))
    throw new UsageError(takesId ? "retire needs one KID." : `${name} takes no “${id}”.`);
  if (values.now && !takesId) throw new UsageError(`${name} takes no --now.`);
  const { json, text } = await commands[name]!(readSettings(), id ?? "", values.now);
  process.stdout.write(`${values.json ? JSON.stringify(json) : text}\n`);
});
