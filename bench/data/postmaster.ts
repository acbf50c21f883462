import { readFile } from "node:fs/promises";
import { withClient } from "../../src/database/client.ts";

/** Process id of Postgres' first process, of which all others are children; 0 where it can't be seen. */
export async function findPostmaster(adminUrl: string): Promise<number> {
  const pid = await withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    const stat = await readFile(`/proc/${rows[0]!.pid}/stat`, "utf8").catch(() => null);
    return stat === null ? 0 : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  });
  return pid;
}
