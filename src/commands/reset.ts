import { randomUUID } from "node:crypto";
import type pg from "pg";
import { getDatabaseName, withClient } from "../postgres/client.ts";
import type { MigrateOptions, Rehearsal } from "../migrations/migrate-options.ts";
import { hasCurrentMigration, withMigrator } from "../migrations/migrations.ts";
import {
  urlOfDatabase,
  readCommittedKeys,
  copyTemplate,
  createServedDatabase,
  shortHash,
  templateName,
} from "../migrations/templates.ts";
import { dropDatabase } from "../migrations/own-databases.ts";
import { nameReplaced, copyRows, replaceDatabase } from "../migrations/replace.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import { fillDemo, readDemo } from "./demo.ts";

export interface ResetOptions extends Pick<MigrateOptions, "locks" | "onWait"> {
  /** Steps to run before the new database replaces the old one. */
  rehearsal?: Rehearsal;
}

/** The database that others are made from. Superusers of the service's own Postgres may connect to it, and others too. */
const maintenanceDatabase = "postgres";

/**
 * Recreates the database of a URL: committed migrations, db/current and demonstration data. Credentials, keys and
 * administrators are kept. The service may keep running. If this fails, nothing changes.
 *
 * @param adminUrl the database, as a superuser
 * @returns the new name of the former database
 */
export async function resetDatabase(
  adminUrl: string,
  { rehearsal, ...options }: ResetOptions = {},
): Promise<string> {
  const name = getDatabaseName(adminUrl);
  const made = `reset_${randomUUID()}`;
  const url = urlOfDatabase(adminUrl, made);
  await withClient(urlOfDatabase(adminUrl, maintenanceDatabase), async (admin) => {
    try {
      const runCurrent = () => withMigrator(url, options, (migrator) => migrator.runCurrent({ rehearsal }));
      try {
        await createDemo(admin, adminUrl, made);
        await runCurrent();
      } catch (error) {
        if (!(await hasCurrentMigration())) throw error;
        // The demonstration data may be for what db/current makes
        await dropDatabase(admin, made);
        await createServedDatabase(admin, adminUrl, made);
        await runCurrent();
        await fillDemo({ connectionString: urlAsOwner(url), scale: 1 });
      }
      await copyRows(adminUrl, url, "auth");
      await replaceDatabase(admin, name, made);
    } catch (error) {
      await dropDatabase(admin, made);
      throw error;
    }
  });
  return nameReplaced(name);
}

/** Returns the message about a completed reset. */
export const describeReset = (aside: string, ms: number): string =>
  `The database is new, in ${Math.round(ms)} ms. Credentials, keys and administrators are kept. All as it was before is in the database ${aside}, until the next time.`;

/** Creates a database with the committed migrations and demonstration data. */
async function createDemo(admin: pg.Client, adminUrl: string, name: string): Promise<void> {
  const key = shortHash([(await readCommittedKeys()).at(-1), ...(await readDemo())].join("\n"));
  await copyTemplate(admin, adminUrl, name, {
    template: templateName("demo", key),
    async make(template) {
      await createServedDatabase(admin, adminUrl, template);
      await fillDemo({ connectionString: urlAsOwner(urlOfDatabase(adminUrl, template)), scale: 1 });
    },
  });
}
