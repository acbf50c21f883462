import { isConnectionBroken } from "../broken.ts";
import type { Connections } from "../shared-pool.ts";
import type { PipelinedStatement } from "./pipelined-query.ts";
import { PipelinedQuery } from "./pipelined-query.ts";
import type { SettingsStatement } from "./settings.ts";

/** A statement with the settings of its own transaction. */
export interface Transaction {
  settings: SettingsStatement;
  statement: PipelinedStatement;
}

/** What became of a transaction: its rows, or why it failed. */
export type Outcome = { rows: unknown[] } | { error: Error };

/**
 * Sends transactions on one connection by one write. Each is committed, or fails, by itself.
 *
 * @param onBegin called when they are about to be sent
 * @param payers clients for whom they are sent, if not for the one whose turn they take
 * @returns the outcome of each, when the last one is done
 * @throws when there is no connection
 */
export type SendTogether = (
  client: string,
  transactions: readonly Transaction[],
  onBegin: () => void,
  payers?: readonly string[],
) => Promise<Outcome[]>;

export function togetherSender(pool: Connections): SendTogether {
  return (client, transactions, onBegin, payers) =>
    new Promise((resolve, reject) => {
      pool.connect(client, (connectError, connection, release) => {
        if (!connection) return reject(connectError!);
        const outcomes: Outcome[] = [];
        const queries = transactions.map(
          ({ settings, statement }) =>
            new PipelinedQuery(connection, settings, statement, (error, result) => {
              outcomes.push(error ? { error } : { rows: result!.rows });
              if (outcomes.length < transactions.length) return;
              const isBroken = outcomes.some(
                (outcome) => "error" in outcome && isConnectionBroken(outcome.error),
              );
              release!(isBroken, payers);
              resolve(outcomes);
            }),
        );
        onBegin();
        PipelinedQuery.sendTogether(connection, queries);
      });
    });
}
