import type pg from "pg";
import { withClient } from "../postgres/client.ts";
import { runCurrentMigration } from "../migrations/migrations.ts";
import type { CurrentFile } from "../migrations/migration-files.ts";
import { hasStatements, readCommitted, readCurrent } from "../migrations/migration-files.ts";
import { withCommitted } from "../migrations/templates.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import { UserError } from "../errors/user-error.ts";
import { retry } from "../lib/retry.ts";
import { check, checkSteps } from "./check.ts";
import type { Finding } from "./finding.ts";
import { rows } from "./rows.ts";
import type { ApiState } from "./state.ts";
import { readEvents, readState } from "./state.ts";

/** Reads the API of a database with the committed migrations only. */
export function readCommittedState(adminUrl: string): Promise<ApiState> {
  return withCommitted(adminUrl, readStateAt);
}

/** Reads the event payloads at a version's release, from a database with the migrations up to then. */
export async function readEventsAtRelease(adminUrl: string, schemaName: string): Promise<ApiState["events"]> {
  const release = new RegExp(
    `api_meta\\.freeze\\('api_unstable', '${schemaName}'\\)|create schema ${schemaName};`,
  );
  const migration = (await readCommitted()).find(({ text }) => release.test(text));
  if (migration === undefined) throw new Error(`No migration has released ${schemaName}.`);
  const events = (url: string) => withClient(urlAsOwner(url), readEvents);
  return withCommitted(adminUrl, events, { upTo: Number.parseInt(migration.name) });
}

const readStateAt = (url: string) =>
  withClient(urlAsOwner(url), (client) => readState(client, urlAsOwner(url)));

/**
 * Checks the uncommitted migrations on a temporary database.
 *
 * @param adminUrl the current database, in which the service recorded who uses which field
 * @param files files of db/current; by default all
 * @param fill inserts rows before the migrations run; by default there are none
 */
export async function checkCurrent(
  adminUrl: string,
  files?: readonly CurrentFile[],
  fill?: (ownerUrl: string) => Promise<void>,
): Promise<Finding[]> {
  const current = files ?? (await readCurrent());
  return withCommitted(adminUrl, async (url) => {
    const before = current.some(hasStatements) ? await readStateAt(url) : null;
    await fill?.(urlAsOwner(url));
    const failure = await findFailure(runCurrentMigration(url, {}, current));
    if (failure !== null) return [failure];
    const after = (client: pg.ClientBase) => readState(client, urlAsOwner(url));
    const whole = () =>
      withClient(urlAsOwner(adminUrl), async (recorded) => {
        let isLost = false;
        recorded.once("end", () => (isLost = true));
        const findings = await withClient(urlAsOwner(url), (client) =>
          check(client, {
            current,
            before,
            recorded,
            after: () => after(client),
            only: fill === undefined ? checkSteps : [...checkSteps, rows],
          }),
        );
        if (isLost)
          throw new UserError("The database was recreated meanwhile. Check again.", { cause: "lost" });
        return findings;
      });
    return retry(whole, {
      pauseMs(error, failures) {
        // Only a connection has a cause: another program may be recreating the database
        if ((error as Error).cause === undefined || failures >= attempts) throw error;
        return pauseMs;
      },
    });
  });
}

/** The number of attempts while the database is being recreated, and the pause between them in milliseconds. */
const [attempts, pauseMs] = [4, 500];

/** Matches the error that a schema or table doesn't exist. */
const isMissing = /\((3F000|42P01)\)/;

/** Returns a migration's failure as a finding; null when it succeeds. */
async function findFailure(run: Promise<void>): Promise<Finding | null> {
  try {
    await run;
    return null;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const [, file = null, line] = /\b(db\/[\w./-]+\.sql)(?:, line |:)(\d+)/.exec(error.message) ?? [];
    return {
      rule: "migration-fails",
      severity: "error",
      file,
      line: line === undefined ? null : Number(line),
      object: null,
      what: error.message,
      why: "It can't be run on a database with all that is committed.",
      remedy: isMissing.test(error.message)
        ? "mend what the message names. What another program makes isn't on this database: begin with create … if not exists (docs/guides/evolving.md)."
        : "mend what the message names.",
    };
  }
}
