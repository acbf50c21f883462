import type { PoolClient } from "pg";
import { isConnectionBroken } from "../broken.ts";
import { pauseAfterCollision } from "../repeating.ts";
import type { ReturnConnection, SharedPool, SharedRead } from "../shared-pool.ts";
import { Pace } from "../pace.ts";
import { PipelinedQuery } from "./pipelined-query.ts";
import type { PipelinedStatement } from "./pipelined-query.ts";
import { canPrepare, getPreparedStatements } from "./prepared-statements.ts";
import type { SettingsStatement } from "./transaction-settings.ts";

/** A statement that is prepared once for each connection. */
interface NamedStatement extends PipelinedStatement {
  name: string;
  /** Whether it is known to be quick before it has been measured. */
  isQuick?: boolean;
}

/** Reads the only text that a statement returns, in its own transaction with settings, for a client. */
export type ReadText = (
  client: string,
  settings: SettingsStatement,
  statement: NamedStatement,
) => Promise<string | null>;

/** Reads the rows of texts that a statement returns, in the same way. */
export type ReadRows = (...asked: Parameters<ReadText>) => Promise<(string | null)[][]>;

/** The bounds for quick statements. A slow run counts at once, and is forgotten slowly. */
const statementPace = { quickMs: 5, minMeasurements: 3, weight: () => 0.1, spikeMs: 20 };
/** The most reads that share a connection at a time: the first, and the ones that it takes along. */
const maxShared = 4;

/** A read that waits for its result. */
export interface WaitingRead extends SharedRead {
  settings: SettingsStatement;
  statement: NamedStatement;
  done(error: Error | null, rows?: (string | null)[][]): void;
}

/**
 * Returns a function that reads rows of texts. Inside, it uses callbacks instead of promises, because this path must be fast.
 *
 * Waiting reads that are known to be quick are sent in one write on the same connection, each with its settings in its own
 * transaction. A read that is slow, or hasn't been measured, has a connection for itself.
 */
export function createRowReader(pool: SharedPool<WaitingRead>): ReadRows {
  const pace = new Pace(statementPace);

  const begin = (read: WaitingRead): void =>
    pool.connect(
      read.client,
      (connectError, connection, release) =>
        connection ? runWithOthers(read, connection, release!) : read.done(connectError),
      read,
    );

  const runWithOthers = (read: WaitingRead, connection: PoolClient, release: ReturnConnection): void => {
    const reads = [read];
    const prepared = getPreparedStatements(connection);
    // A read that is prepared in the same write as others would make them fail with it
    const canJoin = (other: WaitingRead) =>
      other.isQuick() && prepared.get(other.statement.name) !== undefined;
    if (canPrepare(connection) && canJoin(read)) {
      let other;
      while (reads.length < maxShared && (other = pool.queue.takeWaiting(canJoin)) !== null)
        reads.push(other);
    }
    run(reads, connection, release);
  };

  const run = (reads: readonly WaitingRead[], connection: PoolClient, release: ReturnConnection): void => {
    const start = performance.now();
    let [answered, isBroken] = [0, false];
    const queries = reads.map((read) => {
      const statement = { ...read.statement, arrayMode: true };
      return new PipelinedQuery(connection, read.settings, statement, (error, result) => {
        const breaksConnection = error !== null && isConnectionBroken(error);
        // The connection was lost during another read
        const isFromOtherRead = breaksConnection && isBroken;
        isBroken ||= breaksConnection;
        if (++answered === reads.length) {
          const ms = (performance.now() - start) / reads.length;
          for (const { statement } of reads) pace.note(statement.name, ms);
          release(
            isBroken,
            reads.slice(1).map(({ client }) => client),
          );
        }
        if (isFromOtherRead) begin(read);
        else read.done(error, result?.rows as (string | null)[][] | undefined);
      });
    });
    PipelinedQuery.sendTogether(queries);
  };

  return createRetryingReader(begin, pace);
}

/** Returns a function that begins reads, and repeats them after a collision with another transaction. */
function createRetryingReader(begin: (read: WaitingRead) => void, pace: Pace): ReadRows {
  return (client, settings, statement) =>
    new Promise((resolve, reject) => {
      let failures = 0;
      const read: WaitingRead = {
        client,
        settings,
        statement,
        isQuick() {
          const { name } = statement;
          return statement.isQuick === true || (pace.isKnown(name) && pace.isQuick(name));
        },
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
