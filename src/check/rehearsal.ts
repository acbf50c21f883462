import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { withClient } from "../database/client.ts";
import { migrateDatabase, runCurrentMigration } from "../database/migrations/migrations.ts";
import type { CurrentFile } from "../database/migrations/migration-files.ts";
import { urlAsOwner } from "../database/roles.ts";

const fence = new URL("../../db/fence.sql", import.meta.url);

/** A database for trying migrations. */
export interface Rehearsal {
  adminUrl: string;
  /** As its owner. */
  client: pg.Client;
}

/**
 * Tries migrations on a new, empty database, which is dropped afterwards: all committed ones, then db/current.
 *
 * @param adminUrl a database of the server to make it on, whose roles have been set up
 * @param current the files of db/current to run; by default all
 * @throws {UserError} when they can't be run
 */
export async function withRehearsal<T>(
  adminUrl: string,
  work: (rehearsal: Rehearsal) => Promise<T>,
  current?: readonly CurrentFile[],
): Promise<T> {
  const name = `rehearsal_${randomUUID()}`;
  const url = Object.assign(new URL(adminUrl), { pathname: `/${name}` }).href;
  return withClient(adminUrl, async (admin) => {
    const identifier = pg.escapeIdentifier(name);
    await admin.query(`create database ${identifier} owner service_owner template template0`);
    try {
      await withClient(url, async (client) => client.query(await readFile(fence, "utf8")));
      await migrateDatabase(url);
      await runCurrentMigration(url, {}, current);
      return await withClient(urlAsOwner(url), (client) => work({ adminUrl: url, client }));
    } finally {
      await admin.query(`drop database ${identifier} with (force)`);
    }
  });
}
