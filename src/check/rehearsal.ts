import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { withClient } from "../database/client.ts";
import type { MigrateOptions } from "../database/migrations/migrations.ts";
import { migrateDatabase, runCurrentMigration } from "../database/migrations/migrations.ts";
import type { CurrentFile } from "../database/migrations/migration-files.ts";
import { hasStatements, readCommitted, readCurrent } from "../database/migrations/migration-files.ts";
import { urlAsOwner } from "../database/roles.ts";
import { UserError } from "../errors/user-error.ts";
import { check } from "./check.ts";
import type { Finding } from "./finding.ts";
import type { ApiState } from "./state.ts";
import { readEvents, readState } from "./state.ts";

const fence = new URL("../../db/fence.sql", import.meta.url);

/**
 * Runs work on a new database with the committed migrations and no rows, which is dropped afterwards.
 *
 * @param adminUrl a database of the server to make it on, whose roles have been set up
 */
export async function withRehearsal<T>(
  adminUrl: string,
  work: (url: string) => Promise<T>,
  options: MigrateOptions = {},
): Promise<T> {
  const name = `rehearsal_${randomUUID()}`;
  const url = Object.assign(new URL(adminUrl), { pathname: `/${name}` }).href;
  return withClient(adminUrl, async (admin) => {
    const identifier = pg.escapeIdentifier(name);
    await admin.query(`create database ${identifier} owner service_owner template template0`);
    try {
      await withClient(url, async (client) => client.query(await readFile(fence, "utf8")));
      await migrateDatabase(url, options);
      return await work(url);
    } finally {
      await admin.query(`drop database ${identifier} with (force)`);
    }
  });
}

/** What clients see of a database that has the committed migrations, and nothing else. */
export function committedState(adminUrl: string): Promise<ApiState> {
  return withRehearsal(adminUrl, stateAt);
}

/** The bodies of events when a version was released: of a database with the migrations up to then. */
export async function eventsAtRelease(adminUrl: string, schemaName: string): Promise<ApiState["events"]> {
  const release = new RegExp(
    `api_meta\\.freeze\\('api_unstable', '${schemaName}'\\)|create schema ${schemaName};`,
  );
  const migration = (await readCommitted()).find(({ text }) => release.test(text));
  if (migration === undefined) throw new Error(`No migration has released ${schemaName}.`);
  const events = (url: string) => withClient(urlAsOwner(url), readEvents);
  return withRehearsal(adminUrl, events, { upTo: Number.parseInt(migration.name) });
}

const stateAt = (url: string) => withClient(urlAsOwner(url), (client) => readState(client, urlAsOwner(url)));

/**
 * Checks what is being written, on a database that is made for it.
 *
 * @param adminUrl the database at hand, whose service has noted who uses what
 * @param wanted files of db/current; all of them when not given
 */
export async function checkCurrent(adminUrl: string, wanted?: readonly CurrentFile[]): Promise<Finding[]> {
  const current = wanted ?? (await readCurrent());
  return withRehearsal(adminUrl, async (url) => {
    const before = current.some(hasStatements) ? await stateAt(url) : null;
    const failure = await failureOf(runCurrentMigration(url, {}, current));
    if (failure !== null) return [failure];
    return withClient(urlAsOwner(adminUrl), (recorded) =>
      withClient(urlAsOwner(url), (client) =>
        check(client, { current, before, recorded, after: () => readState(client, urlAsOwner(url)) }),
      ),
    );
  });
}

/** Why a migration can't be run, as a finding; null when it can. */
async function failureOf(run: Promise<void>): Promise<Finding | null> {
  try {
    await run;
    return null;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const [, file = null, line] = /\b(db\/[\w./-]+\.sql)(?:, line |:)(\d+)/.exec(error.message) ?? [];
    return {
      ...{ rule: "migration-fails", severity: "error", file, line: line === undefined ? null : Number(line) },
      ...{
        object: null,
        what: error.message,
        why: "It can't be run on a database with all that is committed.",
      },
      wayOut: "mend what the message names.",
    };
  }
}
