import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ClientBase, Pool } from "pg";

/** The most statements that one connection keeps prepared, and their characters: Postgres needs ten times as many bytes. */
const most = { statements: 200, characters: 1_000_000 };
/** A longer statement isn't kept: hardly any is sent twice. */
const maxCharacters = 50_000;

/**
 * Begins the names of this process. Behind a pooler that doesn't track names, one that two connections use would run the
 * statement of the other, and clients would get answers to others' questions.
 */
const namesOfProcess = `s${randomBytes(6).toString("base64url")}`;
let count = 0;

/** A statement that Postgres has parsed for one connection. */
export interface PreparedStatement {
  /** Its name there, which no other connection uses. */
  readonly name: string;
  /** Length of its text. */
  readonly characters: number;
  /** Columns of its rows; null until Postgres has described them. */
  columns: readonly ResultColumn[] | null;
}

/** A statement that isn't kept. */
export const unnamed = (): PreparedStatement => ({ name: "", characters: 0, columns: null });

/** A parser for the values of a column. */
export interface ResultColumn {
  name: string;
  parse(text: string): unknown;
}

/** The prepared statements of one connection. New ones replace the least recently used. */
export class PreparedStatements {
  readonly #byKey = new LRUCache<string, PreparedStatement>({
    max: most.statements,
    maxSize: most.characters,
    sizeCalculation: ({ characters }) => characters + 1,
    dispose: (statement) => this.#outdated.push(statement.name),
  });
  #outdated: string[] = [];

  /** The statement that was prepared under a key. */
  get(key: string): PreparedStatement | undefined {
    return this.#byKey.get(key);
  }

  /** Adds a statement that is about to be prepared; null when it is too long for that. */
  add(key: string, { length: characters }: string): PreparedStatement | null {
    if (characters > maxCharacters) return null;
    const statement: PreparedStatement = { name: `${namesOfProcess}${++count}`, characters, columns: null };
    this.#byKey.set(key, statement);
    return statement;
  }

  /** Forgets a statement that may or may not have been prepared. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }

  /** Names that Postgres can drop, each returned once. Dropping an unknown name is no error. */
  takeOutdated(): string[] {
    if (this.#outdated.length === 0) return this.#outdated;
    const names = this.#outdated;
    this.#outdated = [];
    return names;
  }
}

const unprepared = new WeakSet<ClientBase | Pool>();

/** Marks a connection, or all of a pool, on which nothing stays prepared: behind a pooler, the next transaction may run elsewhere. */
export function prepareNothingOn(client: ClientBase | Pool): void {
  unprepared.add(client);
}

/** Whether statements may be prepared on a connection. */
export const canPrepareOn = (client: ClientBase | Pool): boolean => !unprepared.has(client);

const byConnection = new WeakMap<ClientBase, PreparedStatements>();

/** The prepared statements of a connection. */
export function preparedOn(client: ClientBase): PreparedStatements {
  let statements = byConnection.get(client);
  if (!statements) byConnection.set(client, (statements = new PreparedStatements()));
  return statements;
}
