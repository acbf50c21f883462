import { LRUCache } from "lru-cache";
import type { ClientBase } from "pg";

/** Statements that one connection keeps prepared at most. */
const maxStatements = 200;

/** A statement that Postgres has parsed for one connection. */
export interface PreparedStatement {
  /** Its name there, never used twice. */
  readonly name: string;
  /** Columns of its rows; null until Postgres has told. */
  columns: readonly Column[] | null;
}

/** How to read a column. */
export interface Column {
  name: string;
  parse(text: string): unknown;
}

/** The statements that are prepared on one connection. The least used ones make room for new ones. */
export class PreparedStatements {
  readonly #byKey = new LRUCache<string, PreparedStatement>({
    max: maxStatements,
    dispose: (statement) => this.#outdated.push(statement.name),
  });
  #outdated: string[] = [];
  #count = 0;

  /** The statement that was prepared under a key. */
  get(key: string): PreparedStatement | undefined {
    return this.#byKey.get(key);
  }

  /** Enters a statement that is about to be prepared. */
  add(key: string): PreparedStatement {
    const statement: PreparedStatement = { name: `s${++this.#count}`, columns: null };
    this.#byKey.set(key, statement);
    return statement;
  }

  /** Forgets a statement of which nobody knows whether it came to be prepared. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }

  /** Names that Postgres can drop, each told once. Dropping one that isn't there is no error. */
  takeOutdated(): string[] {
    if (this.#outdated.length === 0) return this.#outdated;
    const names = this.#outdated;
    this.#outdated = [];
    return names;
  }
}

const unprepared = new WeakSet<ClientBase>();

/** Notes of a connection that nothing stays prepared on it: behind a pooler, the next transaction may be elsewhere. */
export function prepareNothingOn(client: ClientBase): void {
  unprepared.add(client);
}

/** Whether statements may be prepared on a connection. */
export const canPrepareOn = (client: ClientBase): boolean => !unprepared.has(client);

const byConnection = new WeakMap<ClientBase, PreparedStatements>();

/** What is prepared on a connection. */
export function preparedOn(client: ClientBase): PreparedStatements {
  let statements = byConnection.get(client);
  if (!statements) byConnection.set(client, (statements = new PreparedStatements()));
  return statements;
}
