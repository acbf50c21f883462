import { execFile } from "node:child_process";
import { appendFile, copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { withClient } from "../../src/postgres/client.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { postgresUser } from "../../src/cluster/postgres-user.ts";
import { reachableData } from "../../src/cluster/shelter.ts";
import { unsafe } from "./prepared.ts";

const run = promisify(execFile);

/**
 * Starts a streaming standby of a Postgres.
 *
 * @param primary the Postgres in the folder `from`
 * @param to the folder of the standby, which is created
 */
export async function startStandby(
  primary: Cluster,
  from: string,
  to: string,
  flags: Record<string, string> = unsafe,
): Promise<Cluster> {
  await mkdir(to, { mode: 0o755 });
  const [user, source] = [await postgresUser(to), await postgresUser(from)];
  const data = await reachableData(user, join(to, "postgres"));
  const running = await reachableData(source, join(from, "postgres"));
  const adminUrl = primary.adminUrl("postgres");
  await withClient(adminUrl, async (admin) => {
    await admin.query("select pg_backup_start('standby', true)");
    await run("cp", ["-Rp", running, data]);
    const { rows } = await admin.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)");
    for (const left of ["pg_wal", "postmaster.pid", "postmaster.opts", "server.log"])
      await rm(join(data, left), { recursive: true, force: true });
    for (const folder of ["pg_wal", "pg_wal/archive_status", "pg_wal/summaries"])
      await mkdir(join(data, folder), { mode: 0o700 });
    await writeFile(join(data, "backup_label"), rows[0]!.labelfile);
    await writeFile(join(data, "standby.signal"), "");
    await appendFile(join(data, "postgresql.auto.conf"), `primary_conninfo = '${adminUrl}'\n`);
  });
  await copyFile(join(from, "password"), join(to, "password"));
  if (user.identity !== null) {
    const { uid, gid } = user.identity;
    await run("chown", ["-R", `${uid}:${gid}`, data, join(to, "password")]);
  }
  return startCluster({ directory: to, flags });
}
