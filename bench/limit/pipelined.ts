import type pg from "pg";

/** The callbacks of `pg` for a running query, and the parts of its connection that we use. */
interface Connection {
  parse(query: { text: string; name: string; types: number[] }): void;
  bind(query: { portal: string; statement: string; values: (string | null)[] }): void;
  execute(query: { portal: string; rows: number }): void;
  sync(): void;
}

/** A prepared statement that returns one text. */
export interface LimitStatement {
  name: string;
  text: string;
}

const parsed = new WeakMap<Connection, Set<string>>();

/**
 * Runs settings of the transaction and a statement in one message to Postgres: everything before one Sync is one
 * transaction.
 */
export function pipelined(
  client: pg.PoolClient,
  settings: Record<string, string>,
  statement: LimitStatement,
  values: string[],
): Promise<string> {
  return new Promise((done, failed) => {
    let answer: string | undefined;
    let error: Error | undefined;
    const query = {
      submit(connection: Connection) {
        const entries = Object.entries(settings);
        const calls = entries.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`);
        send(
          connection,
          { name: `settings ${entries.length}`, text: `select ${calls.join(", ")}` },
          entries.flat(),
        );
        send(connection, statement, values);
        connection.sync();
      },
      handleRowDescription() {},
      handleParameterDescription() {},
      // The second of two rows is the statement's
      handleDataRow: ({ fields }: { fields: (string | Buffer)[] }) => void (answer = String(fields[0])),
      handleCommandComplete() {},
      handlePortalSuspended() {},
      handleEmptyQuery() {},
      handleError: (failure: Error) => void (error = failure),
      handleReadyForQuery() {
        if (error) failed(error);
        else done(answer!);
      },
    };
    client.query(query as unknown as pg.Submittable);
  });
}

function send(connection: Connection, { name, text }: LimitStatement, values: string[]): void {
  let names = parsed.get(connection);
  if (!names) parsed.set(connection, (names = new Set()));
  if (!names.has(name)) connection.parse({ text, name, types: [] });
  names.add(name);
  connection.bind({ portal: "", statement: name, values });
  connection.execute({ portal: "", rows: 0 });
}
