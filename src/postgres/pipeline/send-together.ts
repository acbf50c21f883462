import { isConnectionBroken } from "../broken.ts";
import type { Connections } from "../shared-pool.ts";
import { positionStatement } from "../wal-position.ts";
import type { PrimaryPosition } from "../wal-position.ts";
import type { PipelinedStatement } from "./pipelined-query.ts";
import { PipelinedQuery } from "./pipelined-query.ts";
import type { SettingsStatement } from "./transaction-settings.ts";

/** A statement with the settings of its own transaction. */
export interface Transaction {
  settings: SettingsStatement | null;
  statement: PipelinedStatement;
}

const positionTransaction: Transaction = { settings: null, statement: positionStatement };
const readPosition = (outcome: Outcome): PrimaryPosition | null =>
  "rows" in outcome ? (outcome.rows as [PrimaryPosition])[0] : null;

/** The outcome of a transaction: its rows and the time of its response, on the clock of `performance`; or its error. */
export type Outcome = { rows: unknown[]; answeredAt: number } | { error: Error };

/**
 * Sends transactions on one connection in one write. Each one commits or fails independently.
 *
 * @param onBegin called just before they are sent. If it throws, nothing is sent
 * @param payers the clients that the time counts for, if not for the one in whose turn they are sent
 * @returns the outcome of each, when the last one is done
 * @throws when there is no connection
 */
export type SendTransactions = (
  client: string,
  transactions: readonly Transaction[],
  onBegin: () => void,
  payers?: readonly string[],
) => Promise<Outcome[]>;

/**
 * Called when clients may have written something, before they get the response.
 *
 * @param present Postgres' position after their writes; null when it isn't known
 */
export type OnWritten = (clients: readonly string[], present: PrimaryPosition | null) => void;

/** Returns a function that sends transactions. @param onWritten if given, the same message reads the position, in a last transaction */
export function createTransactionSender(pool: Connections, onWritten?: OnWritten): SendTransactions {
  return (client, transactions, onBegin, payers) =>
    new Promise((resolve, reject) => {
      pool.connect(client, (connectError, connection, release) => {
        if (!connection) return reject(connectError!);
        try {
          onBegin();
        } catch (error) {
          release!();
          const failure = error as Error;
          return reject(failure);
        }
        const outcomes: Outcome[] = [];
        const sent = onWritten ? [...transactions, positionTransaction] : transactions;
        const queries = sent.map(
          ({ settings, statement }) =>
            new PipelinedQuery(connection, settings, statement, (error, result) => {
              outcomes.push(error ? { error } : { rows: result!.rows, answeredAt: performance.now() });
              if (outcomes.length < sent.length) return;
              const isBroken = outcomes.some(
                (outcome) => "error" in outcome && isConnectionBroken(outcome.error),
              );
              release!(isBroken, payers);
              onWritten?.(payers ?? [client], readPosition(outcomes.at(-1)!));
              resolve(outcomes.slice(0, transactions.length));
            }),
        );
        PipelinedQuery.sendTogether(queries);
      });
    });
}
