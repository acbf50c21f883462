import { findByLint, readLints } from "../../check/lints.ts";
import { readCommitted } from "../../migrations/migration-files.ts";
import { openNeighbours } from "../../migrations/neighbours.ts";
import { keepSettings, pruned } from "../../jobs/retention-periods.ts";
import type { StoredSecrets } from "../../secrets/require-keys.ts";
import { refuseLackingKeys } from "../../secrets/require-keys.ts";
import { Secrets } from "../../secrets/secrets.ts";
import { UserError } from "../../errors/user-error.ts";
import { dayMs, error, note, warning } from "./finding.ts";
import type { Examination, Finding } from "./finding.ts";

export const migrations: Examination = {
  name: "migrations",
  asOwner: true,
  async find({ client }) {
    const { rows } = await client.query<{ filename: string; hash: string }>(
      "select filename, hash from graphile_migrate.migrations order by filename",
    );
    const committed = (await readCommitted()).map(({ name, text }) => ({
      name,
      hash: /^--! Hash: (.*)$/m.exec(text)?.[1],
    }));
    const found: Finding[] = [];
    const had = new Set(rows.map(({ hash }) => hash));
    const pending = committed.filter(({ hash }) => !had.has(hash!)).map(({ name }) => name);
    if (pending.length > 0)
      found.push(error(`The database lacks migrations: ${pending.join(", ")}.`, "Run `npx erp db setup`."));
    const known = new Set(committed.map(({ hash }) => hash));
    const strange = rows.filter(({ hash }) => !known.has(hash)).map(({ filename }) => filename);
    if (strange.length > 0)
      found.push(
        error(
          `The database has had migrations that this code doesn't have: ${strange.join(", ")}.`,
          "Take the newer code; or, if they were made by others, docs/guides/upgrading.md (databases of other migrations).",
        ),
      );
    return found;
  },
};

interface Right {
  role: string;
  fault: string;
}

/** What lints of db/lint don't see: attributes of roles, and what roles own. */
const rightsQuery = `
  select r.rolname as role, 'is superuser, may make roles or databases, replicates, or bypasses policies' as fault
  from pg_roles r where r.rolname ~ '^service_' and
    (r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls)
  union all
  select r.rolname, 'owns ' || c.oid::regclass from pg_class c join pg_roles r on r.oid = c.relowner
  where r.rolname in ('service_api', 'service_api_login', 'service_login')
  union all
  select r.rolname, 'may become service_owner' from pg_roles r
  where r.rolname in ('service_api', 'service_api_login', 'service_login') and pg_has_role(r.oid, 'service_owner', 'member')`;

export const rights: Examination = {
  name: "rights",
  async find({ client }) {
    const { rows } = await client.query<Right>(rightsQuery);
    return rows.map(({ role, fault }) =>
      error(`The role ${role} ${fault}.`, "Take that from it; db/roles.sql has what each role should have."),
    );
  },
};

export const neighbours: Examination = {
  name: "other databases",
  async find({ client, url }) {
    return (await openNeighbours(client, url)).map(({ name, role }) =>
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
      for (const { object, what, wayOut } of await findByLint(client, lint))
        found.push(error(`${lint.name}: ${[object, what].filter(Boolean).join(": ")}`, wayOut));
    return found;
  },
};

/** Rows of the proof that are shown. */
const shown = 10;

export const proof: Examination = {
  name: "proof",
  asOwner: true,
  async find({ client }) {
    const { rows } = await client.query<{ figure: string; id: string; stored: string; expected: string }>(
      `select figure, id, stored, expected from ledger.proof limit ${shown}`,
    );
    return rows.map(({ figure, id, stored, expected }) =>
      error(
        `${figure} of ${id} is ${stored}, and the ledger gives ${expected}.`,
        "Find who changed it by SQL; then correct the figure, or restore an earlier moment (docs/guides/backups.md).",
      ),
    );
  },
};

/** Days after which a key that signs should be replaced. */
const keyDays = 180;

export const keys: Examination = {
  name: "keys",
  asOwner: true,
  async find({ client, settings: { secretsKeys }, now }) {
    const found: Finding[] = [];
    const { rows } = await client.query<{ created: Date }>(
      "select created_at as created from auth.signing_key where retires_at is null",
    );
    const days = rows.map(({ created }) => Math.floor((now() - created.getTime()) / dayMs));
    if (days[0] !== undefined && days[0] > keyDays)
      found.push(
        warning(`The key that signs access tokens is ${days[0]} days old.`, "Run `npx erp keys rotate`."),
      );
    const { rows: stored } = await client.query<StoredSecrets>(
      "select kind, key_id, count::integer as count from auth.stored_secrets()",
    );
    try {
      refuseLackingKeys(stored, new Secrets(secretsKeys));
    } catch (failure) {
      if (!(failure instanceof UserError)) throw failure;
      found.push(error(failure.message, "docs/guides/keys.md."));
    }
    const plain = stored.filter(({ key_id: id }) => id === null).reduce((sum, { count }) => sum + count, 0);
    if (secretsKeys.length > 0 && plain > 0)
      found.push(warning(`${plain} secrets are not encrypted.`, "Run `npx erp keys encrypt`."));
    return found;
  },
};

/** What waits too long is in minutes. */
const waitingQuery = `
  select b.outbox_seconds / 60 as outbox, b.delivery_seconds / 60 as webhooks,
    (select extract(epoch from clock_timestamp() - min(run_at)) / 60 from graphile_worker.jobs
      where locked_at is null and attempts < max_attempts and run_at < clock_timestamp())::float8 as jobs,
    (select string_agg(distinct task_identifier || ': ' || left(coalesce(last_error, ''), 200), '; ')
      from graphile_worker.jobs where attempts > 0 and last_error is not null) as failed
  from events.backlog() b`;

interface Waiting extends Record<"outbox" | "webhooks" | "jobs", number | null> {
  failed: string | null;
}

/** Minutes after which something should have been done. */
const patience = 10;

export const backgroundWork: Examination = {
  name: "background work",
  asOwner: true,
  async find({ client }) {
    const { rows } = await client.query<Waiting>(waitingQuery);
    const { outbox, webhooks, jobs, failed } = rows[0]!;
    const found: Finding[] = [];
    const late = (what: string, minutes: number | null, toDo: string) => {
      if (minutes !== null && minutes > patience)
        found.push(warning(`${what} for ${Math.round(minutes)} minutes.`, toDo));
    };
    const runs = (name: string) => `See that a process runs with ${name} above 0, and what its log says.`;
    late("Committed changes wait to become events", outbox, runs("WEBHOOK_CONCURRENCY"));
    late("Webhooks that are due wait", webhooks, runs("WEBHOOK_CONCURRENCY"));
    late("Jobs wait", jobs, runs("WORKER_CONCURRENCY"));
    if (failed !== null) found.push(note(`Jobs have failed: ${failed}.`, "db/README.md (Background work)."));
    return found;
  },
};

/** Days that something may be kept longer than set: deleting may have much to catch up with. */
const catchUpDays = 1;

export const retention: Examination = {
  name: "retention",
  asOwner: true,
  async find({ client, settings: { keep } }) {
    for (const entry of Object.entries(keepSettings(keep)))
      await client.query("select set_config($1, $2, true)", entry);
    const found: Finding[] = [];
    for (const { what, overdueDays } of pruned) {
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
