import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type pg from "pg";
import { withClient } from "../postgres/client.ts";
import { checkBackup, chooseBackup, restoreBackup } from "../cluster/backups.ts";
import { startCluster } from "../cluster/cluster.ts";
import { restoreDump } from "../cluster/restore-dump.ts";
import { countCommitted } from "../migrations/migration-files.ts";
import { databaseName } from "../migrations/open-database.ts";
import { readSettings } from "../process/settings.ts";
import { atTheCommandLine } from "./command-line.ts";
import { tellProof } from "./proof.ts";
import { say, UsageError } from "./terminal.ts";

const usage = `Makes the service's own Postgres from a backup, and proves its books.

Usage: npm run restore -- --from FOLDER [--to FOLDER] [--check]

  --from    a folder of backups, of which the newest is taken, or one backup; or a file of
            \`pg_dump --format=custom\`, to move to another major version of Postgres
  --to      the folder of the new data, which must not have any; DATA_DIRECTORY if not given
  --check   only read the backup, and compare its checksums

Nothing is left of a restore that fails. Exit code 0: done, and the books are right; 1: refused or failed, or the
books are wrong; 2: invalid arguments.
`;

const options = { from: { type: "string" }, to: { type: "string" }, check: { type: "boolean" } } as const;

await atTheCommandLine({ usage, options }, async ({ from, to, check }) => {
  const { dataDirectory, runAs } = readSettings();
  if (from === undefined) throw new UsageError("Which backup? Say --from FOLDER.");
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
  const cluster = await startCluster({ directory, runAs });
  try {
    await withClient(cluster.adminUrl(databaseName), tellState);
  } finally {
    await cluster.stop();
  }
});

/** Says what is in the database, and whether its books are right. */
async function tellState(client: pg.Client): Promise<void> {
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
  await tellProof(client);
}
