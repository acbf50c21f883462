import type pg from "pg";
import { withClient } from "../postgres/client.ts";
import { runCurrentMigration } from "../migrations/migrations.ts";
import type { CurrentFile } from "../migrations/migration-files.ts";
import { hasStatements, readCommitted, readCurrent } from "../migrations/migration-files.ts";
import { withCommitted } from "../migrations/templates.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import { UserError } from "../errors/user-error.ts";
import { retry } from "../lib/retry.ts";
import { check, sources } from "./check.ts";
import type { Finding } from "./finding.ts";
import { rows } from "./rows.ts";
import type { ApiState } from "./state.ts";
import { readEvents, readState } from "./state.ts";

/** What clients see of a database that has the committed migrations, and nothing else. */
export function committedState(adminUrl: string): Promise<ApiState> {
  return withCommitted(adminUrl, stateAt);
}

/** The bodies of events when a version was released: of a database with the migrations up to then. */
export async function eventsAtRelease(adminUrl: string, schemaName: string): Promise<ApiState["events"]> {
  const release = new RegExp(
    `api_meta\\.freeze\\('api_unstable', '${schemaName}'\\)|create schema ${schemaName};`,
  );
  const migration = (await readCommitted()).find(({ text }) => release.test(text));
  if (migration === undefined) throw new Error(`No migration has released ${schemaName}.`);
  const events = (url: string) => withClient(urlAsOwner(url), readEvents);
  return withCommitted(adminUrl, events, { upTo: Number.parseInt(migration.name) });
}

const stateAt = (url: string) => withClient(urlAsOwner(url), (client) => readState(client, urlAsOwner(url)));

/**
 * Checks what is being written, on a database that is made for it.
 *
 * @param adminUrl the database at hand, whose service has noted who uses what
 * @param wanted files of db/current; all of them when not given
 * @param fill puts rows into it, before they are run; otherwise there are none
 */
export async function checkCurrent(
  adminUrl: string,
  wanted?: readonly CurrentFile[],
  fill?: (ownerUrl: string) => Promise<void>,
): Promise<Finding[]> {
  const current = wanted ?? (await readCurrent());
  return withCommitted(adminUrl, async (url) => {
    const before = current.some(hasStatements) ? await stateAt(url) : null;
    await fill?.(urlAsOwner(url));
    const failure = await failureOf(runCurrentMigration(url, {}, current));
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
            only: fill === undefined ? sources : [...sources, rows],
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

/** How often the check begins while the database is recreated, and the pause in milliseconds. */
const [attempts, pauseMs] = [4, 500];

/** There is no such schema, or table. */
const isMissing = /\((3F000|42P01)\)/;

/** Why a migration can't be run, as a finding; null when it can. */
async function failureOf(run: Promise<void>): Promise<Finding | null> {
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
