import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type pg from "pg";
import { restoreDump } from "../database/backup/restore-dump.ts";
import { restoreBackup } from "../database/backup/restore.ts";
import type { Restored, RestoreOptions } from "../database/backup/restore.ts";
import { withClient } from "../database/client.ts";
import { countCommitted } from "../database/migrations/migration-files.ts";
import { databaseName } from "../database/open.ts";
import { readSettings } from "../process/settings.ts";
import { ProgressBar } from "./progress.ts";
import { tellProof } from "./proof.ts";
import { say, UsageError } from "./terminal.ts";
import { withOwnPostgres } from "./with-database.ts";

const units = { Checking: ["segments", 1], Copying: ["MB", 1e6], Replaying: ["segments", 1] } as const;

interface Wanted {
  from: string;
  until?: string;
  to?: string;
  check?: true;
}

/** Makes a cluster from a backup, or only reads the backup. */
export async function restore({ from, until, to, check }: Wanted): Promise<void> {
  const settings = readSettings();
  const { dataDirectory, runAs } = settings;
  const directory = resolve(to ?? dataDirectory);
  const isDump = (await stat(from).catch(() => null))?.isFile() === true;
  if (isDump && (until ?? check) !== undefined)
    throw new UsageError("--until and --check are for backups, not for a file of pg_dump.");
  if (isDump) {
    await restoreDump({ from, directory, database: databaseName, runAs });
    say(`Restored ${from} to ${directory}.`);
  } else {
    const moment = momentOf(until);
    const restored = await withBars({ from, until: moment, directory, runAs, isCheck: check === true });
    tellRestored(restored, directory, check === true);
  }
  if (check) return;
  const itself = { ...settings, dataDirectory: directory, backupDirectory: undefined };
  await withOwnPostgres(itself, databaseName, (url) => withClient(url, tellState));
}

function tellRestored({ backup, segments, lastCommit }: Restored, directory: string, isCheck: boolean): void {
  const archived = segments === 0 ? "no archived log" : `${segments} segments of archived log`;
  if (isCheck)
    return say(`The backup ${backup.name} is whole: ${backup.manifest.files.length} files, and ${archived}.`);
  const reached = lastCommit === null ? "" : ` The last transaction is of ${lastCommit}.`;
  say(`Restored ${backup.name} and ${archived} to ${directory}.${reached}`);
}

function momentOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const moment = new Date(text);
  if (/T.*(Z|[+-]\d\d:?\d\d)$/.test(text) && !Number.isNaN(moment.getTime())) return moment;
  throw new UsageError("--until is a moment with its zone, such as 2026-11-22T21:00:00Z.");
}

/** Restores, and shows a bar for each part that takes time. */
async function withBars(options: RestoreOptions): Promise<Restored> {
  const bars = new Map<string, ProgressBar>();
  const end = () => [...bars.values()].at(-1)?.end();
  try {
    return await restoreBackup({
      ...options,
      onProgress(step, done, total) {
        const [unit, size] = units[step];
        if (!bars.has(step)) {
          end();
          bars.set(step, new ProgressBar(step, unit, 0));
        }
        bars.get(step)!.show(Math.ceil(done / size), Math.ceil(total / size));
      },
    });
  } finally {
    end();
  }
}

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
