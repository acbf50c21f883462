import { runLint, readLints } from "../../check/lints.ts";
import { readCommittedHashes } from "../../migrations/migration-files.ts";
import { findOpenDefaultDatabases } from "../../migrations/neighbours.ts";
import { retentionSettings, retentionRules } from "../../jobs/retention-periods.ts";
import type { StoredSecrets } from "../../secrets/require-keys.ts";
import { readStoredSecrets, requireKeysFor } from "../../secrets/require-keys.ts";
import { Secrets } from "../../secrets/secrets.ts";
import { UserError } from "../../errors/user-error.ts";
import { dayMs, error, keepFindings, warning } from "./finding.ts";
import type { Examination, Finding } from "./finding.ts";

export const migrations: Examination = {
  name: "migrations",
  asOwner: true,
  async find({ client }) {
    const { rows: had } = await client.query<{ name: string; hash: string }>(
      "select filename as name, hash from graphile_migrate.migrations order by filename",
    );
    const committed = await readCommittedHashes();
    const lacking = missingIn(had, committed);
    const strange = missingIn(committed, had);
    return keepFindings(
      lacking && error(`The database lacks migrations: ${lacking}.`, "Run `npx erp db setup`."),
      strange &&
        error(
          `The database has had migrations that this code doesn't have: ${strange}.`,
          "Take the newer code; or, if they were made by others, docs/guides/running.md (databases of other migrations).",
        ),
    );
  },
};

/** The names of migrations of the second list that the first one lacks. */
function missingIn(
  known: readonly { hash: string }[],
  all: readonly { name: string; hash: string }[],
): string {
  const hashes = new Set(known.map(({ hash }) => hash));
  return all
    .filter(({ hash }) => !hashes.has(hash))
    .map(({ name }) => name)
    .join(", ");
}

export const neighbours: Examination = {
  name: "other databases",
  async find({ client, url }) {
    return (await findOpenDefaultDatabases(client, url)).map(({ name, role }) =>
      warning(
        `${role} may connect to the database ${name}, and leave temporary tables or large objects there.`,
        "As superuser: psql -d postgres -f db/fence-neighbours.sql.",
      ),
    );
  },
};

export const lints: Examination = {
  name: "lints",
  asOwner: true,
  async find({ client }) {
    const found: Finding[] = [];
    for (const lint of await readLints())
      for (const { object, what, remedy } of await runLint(client, lint))
        found.push(error(`${lint.name}: ${[object, what].filter(Boolean).join(": ")}`, remedy));
    return found;
  },
};

/** Days after which a key that signs should be replaced. */
const keyDays = 180;

export const keys: Examination = {
  name: "keys",
  asOwner: true,
  async find({ client, settings: { secretsKeys }, now }) {
    const { rows } = await client.query<{ created: Date }>(
      "select created_at as created from auth.signing_key where retires_at is null",
    );
    const days = rows.map(({ created }) => Math.floor((now() - created.getTime()) / dayMs))[0] ?? 0;
    const stored = await readStoredSecrets(client);
    const plain = stored.filter(({ key_id: id }) => id === null).reduce((sum, { count }) => sum + count, 0);
    return keepFindings(
      days > keyDays &&
        warning(`The key that signs access tokens is ${days} days old.`, "Run `npx erp keys rotate`."),
      lackingKeys(stored, secretsKeys),
      secretsKeys.length > 0 &&
        plain > 0 &&
        warning(`${plain} secrets are not encrypted.`, "Run `npx erp keys encrypt`."),
    );
  },
};

function lackingKeys(stored: readonly StoredSecrets[], secretsKeys: readonly string[]): Finding | null {
  try {
    requireKeysFor(stored, new Secrets(secretsKeys));
    return null;
  } catch (failure) {
    if (!(failure instanceof UserError)) throw failure;
    return error(failure.message, "docs/guides/keys.md.");
  }
}

/** Days that something may be kept longer than set: deleting may have much to catch up with. */
const catchUpDays = 1;

export const retention: Examination = {
  name: "retention",
  asOwner: true,
  async find({ client, settings: { keep } }) {
    for (const entry of Object.entries(retentionSettings(keep)))
      await client.query("select set_config($1, $2, true)", entry);
    const found: Finding[] = [];
    for (const { what, overdueDays } of retentionRules) {
      const { rows } = await client.query<{ days: number | null }>(`select (${overdueDays})::float8 as days`);
      const { days } = rows[0]!;
      if (days === null || days < catchUpDays) continue;
      found.push(
        warning(
          `There are ${what} that should have been deleted ${Math.floor(days)} days ago.`,
          "See that a process runs with WORKER_CONCURRENCY above 0, and what its log says (docs/guides/retention.md).",
        ),
      );
    }
    return found;
  },
};
