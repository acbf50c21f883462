import type pg from "pg";
import { withClient } from "../database/client.ts";
import { readCommitted } from "../database/migrations/migration-files.ts";
import { migrateDatabase } from "../database/migrations/migrations.ts";
import { withCommitted } from "../database/migrations/templates.ts";
import { UserError } from "../errors/user-error.ts";
import { check } from "./check.ts";
import { dangerousDdl } from "./ddl/ddl.ts";
import type { Finding } from "./finding.ts";
import { isRefused } from "./finding.ts";
import { frozenVersions } from "./frozen.ts";
import { oldColumnsOf } from "./old-columns.ts";
import { printFindings } from "./report.ts";
import { linesOf, parsed } from "./script.ts";
import { readParts } from "./state.ts";

export interface PendingOptions {
  /** Rules that the operator lets pass. */
  accepted?: readonly string[];
  /** Told what is let pass, or can't be looked at. */
  onNote?: (note: string) => void;
}

/**
 * Refuses committed migrations that a database doesn't have yet, if they would block its clients, lose data, or break a
 * version that is served. Nothing is changed in the database; a copy without rows, made beside it, is migrated.
 *
 * @param adminUrl the database, as an administrator
 * @throws {UserError} with what is dangerous
 */
export async function requireHarmlessPending(
  adminUrl: string,
  { accepted = [], onNote = () => {} }: PendingOptions = {},
): Promise<void> {
  const findings = await withClient(adminUrl, (client) => findInPending(adminUrl, client, onNote));
  const settled = findings.map((finding) =>
    finding.waived === undefined && accepted.includes(finding.rule)
      ? { ...finding, waived: "accepted by the operator" }
      : finding,
  );
  if (settled.length === 0) return;
  if (!isRefused(settled)) return onNote(printFindings(settled));
  throw new UserError(
    `${printFindings(settled)}\n\nNothing was changed. To run the migrations all the same, at a time that suits: npm run db:setup -- --accept RULE, for each rule.`,
  );
}

async function findInPending(
  adminUrl: string,
  client: pg.Client,
  onNote: (note: string) => void,
): Promise<Finding[]> {
  const done = await migrationsDone(client);
  const pending = (await readCommitted()).slice(done);
  if (done === 0 || pending.length === 0) return [];
  const scripts = await Promise.all(
    pending.map(({ name, text }) => {
      const file = `db/committed/${name}`;
      return parsed(file, text, linesOf(text, file));
    }),
  );
  const options = { scripts, recorded: client };
  const oldColumns = await oldColumnsOf(client);
  const dangers = await check(client, { ...options, oldColumns, only: [dangerousDdl] });
  try {
    const breaches = await withCommitted(
      adminUrl,
      (url) =>
        withClient(url, async (copy) => {
          const before = { sdl: "", events: {}, parts: await readParts(copy) };
          await migrateDatabase(url);
          return check(copy, { ...options, before, only: [frozenVersions] });
        }),
      // A server that others use gets no templates
      { upTo: done, isKept: false },
    );
    return [...dangers, ...breaches];
  } catch (error) {
    // insufficient_privilege
    if ((error as pg.DatabaseError).code !== "42501") throw error;
    onNote(
      "Note: the role of DATABASE_URL may not create databases, so the migrations are not tried before they run.",
    );
    return dangers;
  }
}

/** How many migrations a database has had. */
async function migrationsDone(client: pg.Client): Promise<number> {
  const { rows: found } = await client.query<{ known: boolean }>(
    "select to_regclass('graphile_migrate.migrations') is not null as known",
  );
  if (!found[0]!.known) return 0;
  await client.query("begin; set local role service_owner");
  try {
    const { rows } = await client.query<{ count: number }>(
      "select count(*)::integer as count from graphile_migrate.migrations",
    );
    return rows[0]!.count;
  } finally {
    await client.query("rollback");
  }
}
