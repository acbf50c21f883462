import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type pg from "pg";
import { withClient } from "../postgres/client.ts";
import { checkBackup, chooseBackup, restoreBackup } from "../cluster/backups.ts";
import { restoreDump } from "../cluster/restore-dump.ts";
import { countCommitted } from "../migrations/migration-files.ts";
import { databaseName } from "../migrations/open-database.ts";
import { readSettings } from "../process/settings.ts";
import { reportProof } from "./proof.ts";
import { say, UsageError } from "./terminal.ts";
import { withOwnPostgres } from "./with-database.ts";

interface RestoreOptions {
  from: string;
  to?: string;
  check?: true;
}

/** Makes a cluster from a backup, or only reads the backup. */
export async function restore({ from, to, check }: RestoreOptions): Promise<void> {
  const settings = readSettings();
  const { dataDirectory, runAs } = settings;
  const directory = resolve(to ?? dataDirectory);
  const isDump = (await stat(from).catch(() => null))?.isFile() === true;
  if (isDump && check) throw new UsageError("--check is for backups, not for a file of pg_dump.");
  const backup = isDump ? from : await chooseBackup(from);
  if (check) {
    await checkBackup(backup);
    return say(`The backup ${backup} is whole.`);
  }
  if (isDump) await restoreDump({ from, directory, database: databaseName, runAs });
  else await restoreBackup(backup, directory, runAs);
  say(`Restored ${backup} to ${directory}.`);
  const itself = { ...settings, dataDirectory: directory };
  await withOwnPostgres(itself, databaseName, (url) => withClient(url, reportContent));
}

/** Says what is in the database, and whether its books are right. */
async function reportContent(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{
    migrations: number;
    movements: string;
    orders: string;
    last: Date | null;
  }>(
    `select api_meta.migration_count() as migrations, (select count(*) from ledger.stock_movement) as movements,
       (select count(*) from erp.sales_order) as orders, (select max(occurred_at) from events.event) as last`,
  );
  const { migrations, movements, orders, last } = rows[0]!;
  const newest = last === null ? "no events" : `the newest event is of ${last.toISOString()}`;
  say(`It has ${movements} movements of stock and ${orders} orders; ${newest}.`);
  const missing = (await countCommitted()) - migrations;
  if (missing > 0) say(`It lacks ${missing} migrations, which the next start makes up for.`);
  if (missing < 0) say(`It has ${-missing} migrations more than this code: start it with the newer code.`);
  await reportProof(client);
}
