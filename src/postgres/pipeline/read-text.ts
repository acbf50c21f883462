import type { PoolClient } from "pg";
import { isConnectionBroken } from "../broken.ts";
import { pauseAfterCollision } from "../repeating.ts";
import type { ReturnConnection, SharedPool, SharedRead } from "../shared-pool.ts";
import { StatementPace } from "../statement-pace.ts";
import { PipelinedQuery } from "./pipelined-query.ts";
import type { PipelinedStatement } from "./pipelined-query.ts";
import { canPrepareOn, preparedOn } from "./prepared-statements.ts";
import type { SettingsStatement } from "./transaction-settings.ts";

/** A statement that is prepared once for each connection. */
interface NamedStatement extends PipelinedStatement {
  name: string;
  /** Whether it is quick by its nature, also before that is known by experience. */
  isQuick?: boolean;
}

/** Reads the single text that a statement returns, in its own transaction with settings, for a client. */
export type ReadText = (
  client: string,
  settings: SettingsStatement,
  statement: NamedStatement,
) => Promise<string | null>;

/** The same for rows of texts. */
export type ReadRows = (...asked: Parameters<ReadText>) => Promise<(string | null)[][]>;

/** Reads that share a connection at the same time: the first, and those that it takes along. */
const maxShared = 4;

/** A read that waits for its answer. */
export interface WaitingRead extends SharedRead {
  settings: SettingsStatement;
  statement: NamedStatement;
  done(error: Error | null, rows?: (string | null)[][]): void;
}

/**
 * Reads rows of texts, with callbacks instead of promises inside, because this is the fastest path.
 *
 * When several reads wait for a connection, those that are known to be quick are sent together: by one write, each with its
 * settings in its own transaction. A read that is slow, or not known yet, has its connection for itself.
 */
export function rowReader(pool: SharedPool<WaitingRead>): ReadRows {
  const pace = new StatementPace();

  const begin = (read: WaitingRead): void =>
    pool.connect(
      read.client,
      (connectError, connection, release) =>
        connection ? runWithOthers(read, connection, release!) : read.done(connectError),
      read,
    );

  const runWithOthers = (read: WaitingRead, connection: PoolClient, release: ReturnConnection): void => {
    const reads = [read];
    const prepared = preparedOn(connection);
    // One that is prepared together with others would take them along when it fails
    const suits = (other: WaitingRead) => other.isQuick() && prepared.get(other.statement.name) !== undefined;
    if (canPrepareOn(connection) && suits(read)) {
      let other;
      while (reads.length < maxShared && (other = pool.turns.takeAlong(suits)) !== null) reads.push(other);
    }
    run(reads, connection, release);
  };

  const run = (reads: readonly WaitingRead[], connection: PoolClient, release: ReturnConnection): void => {
    const start = performance.now();
    let [answered, isBroken] = [0, false];
    const queries = reads.map((read) => {
      const statement = { ...read.statement, arrayMode: true };
      return new PipelinedQuery(connection, read.settings, statement, (error, result) => {
        const isLost = error !== null && isConnectionBroken(error);
        // The connection was lost during another one
        const isBlameless = isLost && isBroken;
        isBroken ||= isLost;
        if (++answered === reads.length) {
          const ms = (performance.now() - start) / reads.length;
          for (const { statement } of reads) pace.note(statement.name, ms);
          release(
            isBroken,
            reads.slice(1).map(({ client }) => client),
          );
        }
        if (isBlameless) begin(read);
        else read.done(error, result?.rows as (string | null)[][] | undefined);
      });
    });
    PipelinedQuery.sendTogether(queries);
  };

  return repeatingReader(begin, pace);
}

/** Begins reads, and again those that another transaction was in the way of. */
function repeatingReader(begin: (read: WaitingRead) => void, pace: StatementPace): ReadRows {
  return (client, settings, statement) =>
    new Promise((resolve, reject) => {
      let failures = 0;
      const read: WaitingRead = {
        client,
        settings,
        statement,
        isQuick: () => statement.isQuick === true || pace.isQuick(statement.name),
        done(error, rows) {
          if (!error) return resolve(rows!);
          const pauseMs = pauseAfterCollision(error, ++failures);
          if (pauseMs === null) reject(error);
          else setTimeout(() => begin(read), pauseMs);
        },
      };
      begin(read);
    });
}

export const textReader =
  (readRows: ReadRows): ReadText =>
  async (...asked) =>
    (await readRows(...asked))[0]![0]!;
