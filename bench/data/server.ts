import { readFile } from "node:fs/promises";
import { withClient } from "../../src/postgres/client.ts";

/** The measured Postgres. */
export interface PostgresServer {
  /** Process id of its first process, the parent of the others; 0 if it can't be seen. */
  postmaster: number;
  version: string;
}

export function findServer(adminUrl: string): Promise<PostgresServer> {
  return withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ pid: number; version: string }>(
      "select pg_backend_pid() as pid, split_part(current_setting('server_version'), ' ', 1) as version",
    );
    const { pid, version } = rows[0]!;
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
    const parent = stat === null ? 0 : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    return { postmaster: parent, version };
  });
}
