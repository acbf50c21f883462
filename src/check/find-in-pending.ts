import type pg from "pg";
import { withClient } from "../postgres/client.ts";
import type { CurrentFile } from "../migrations/migration-files.ts";
import { migrateDatabase } from "../migrations/migrations.ts";
import { withCommitted } from "../migrations/templates.ts";
import { check } from "./check.ts";
import { dangerousDdl } from "./ddl/ddl.ts";
import type { Finding } from "./finding.ts";
import { frozenVersions } from "./frozen.ts";
import { readColumns } from "./old-columns.ts";
import { listPlaces, parseScript } from "./script.ts";
import { readParts } from "./state.ts";

export interface PendingTarget {
  /** The database, as an administrator, and a connection to it. */
  adminUrl: string;
  client: pg.Client;
  /** The number of migrations that it already has. */
  done: number;
  onNote: (note: string) => void;
}

/** Checks committed migrations that a database doesn't have yet. */
export async function checkPending(
  pending: readonly CurrentFile[],
  { adminUrl, client, done, onNote }: PendingTarget,
): Promise<Finding[]> {
  const scripts = await Promise.all(
    pending.map(({ name, text }) => {
      const file = `db/committed/${name}`;
      return parseScript(file, text, listPlaces(text, file));
    }),
  );
  const options = { scripts, recorded: client };
  const oldColumns = await readColumns(client);
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
      // Keep no templates on a server that others use
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
