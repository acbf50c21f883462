import { isConnectionBroken } from "../broken.ts";
import type { SharedPool } from "../shared-pool.ts";
import { PipelinedQuery } from "./pipelined-query.ts";
import type { PipelinedStatement } from "./pipelined-query.ts";
import type { SettingsStatement } from "./settings.ts";

/** Reads the single text that a statement returns, in its own transaction with settings, for a client. */
export type ReadText = (
  client: string,
  settings: SettingsStatement,
  statement: PipelinedStatement,
) => Promise<string | null>;

/** Reads with callbacks instead of promises, because this is the fastest path. */
export function textReader(pool: SharedPool): ReadText {
  return (client, settings, { text, name, values }) =>
    new Promise((resolve, reject) => {
      pool.connect(client, (connectError, connection, release) => {
        if (!connection) return reject(connectError!);
        const statement = { text, name, values, arrayMode: true };
        const query = new PipelinedQuery(connection, settings, statement, (error, result) => {
          release!(error !== null && isConnectionBroken(error));
          if (error) return reject(error);
          const [[value]] = result!.rows as [[string | null]];
          resolve(value);
        });
        connection.query(query);
      });
    });
}
