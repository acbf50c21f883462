import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type pg from "pg";
import { restoreDump } from "../database/backup/restore-dump.ts";
import { restoreBackup } from "../database/backup/restore.ts";
import type { Restored, RestoreOptions } from "../database/backup/restore.ts";
import { withClient } from "../database/client.ts";
import { startCluster } from "../database/cluster/cluster.ts";
import { countCommitted } from "../database/migrations/migration-files.ts";
import { databaseName } from "../database/open.ts";
import { readSettings } from "../process/settings.ts";
import { atTheCommandLine } from "./command-line.ts";
import { ProgressBar } from "./progress.ts";
import { tellProof } from "./proof.ts";
import { say, UsageError } from "./terminal.ts";

const usage = `Makes the service's own Postgres from a backup, and proves its books.

Usage: npm run restore -- --from FOLDER [--until TIME] [--to FOLDER] [--check]

  --from    a folder of backups, of which the newest that serves is taken, or one backup; or a file of
            \`pg_dump --format=custom\`, to move to another major version of Postgres
  --until   the moment to restore, with its zone: 2026-11-22T21:00:00Z. It needs the write-ahead log that
            Postgres archives with BACKUP_DIRECTORY. Without it, all that there is
  --to      the folder of the new data, which must not have any; DATA_DIRECTORY if not given
  --check   only read the backup and the archive, and compare their hashes

Nothing is left of a restore that fails. Exit code 0: done, and the books are right; 1: refused or failed, or the
books are wrong; 2: invalid arguments.
`;

const units = { Checking: ["segments", 1], Copying: ["MB", 1e6], Replaying: ["segments", 1] } as const;

const options = {
  from: { type: "string" },
  until: { type: "string" },
  to: { type: "string" },
  check: { type: "boolean" },
} as const;

await atTheCommandLine({ usage, options }, async ({ from, until, to, check }) => {
  const { dataDirectory, runAs } = readSettings();
  if (from === undefined) throw new UsageError("Which backup? Say --from FOLDER.");
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
  const cluster = await startCluster({ directory, runAs });
  try {
    await withClient(cluster.adminUrl(databaseName), tellState);
  } finally {
    await cluster.stop();
  }
});

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
