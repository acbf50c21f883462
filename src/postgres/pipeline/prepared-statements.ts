import { randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ClientBase, Pool } from "pg";

/** The most statements and characters that one connection keeps prepared. Postgres needs ten bytes per character. */
const limits = { statements: 200, characters: 1_000_000 };
/** The longest statement that stays prepared: few longer ones are sent twice. */
const maxCharacters = 50_000;

/**
 * The prefix of all names in this process. Behind a pooler that doesn't track names, a name that two connections use could run
 * the other one's statement, and clients would get results of others.
 */
const namePrefix = `s${randomBytes(6).toString("base64url")}`;
let count = 0;

/** A statement that Postgres has parsed for one connection. */
export interface PreparedStatement {
  /** Its name in Postgres, which no other connection uses. */
  readonly name: string;
  /** The length of its text. */
  readonly characters: number;
  /** Columns of its rows; null until Postgres has described them. */
  columns: readonly ResultColumn[] | null;
}

/** Returns a statement that doesn't stay prepared. */
export const createUnnamedStatement = (): PreparedStatement => ({ name: "", characters: 0, columns: null });

/** A parser for the values of a column. */
export interface ResultColumn {
  name: string;
  parse(text: string): unknown;
}

/** The prepared statements of one connection. New ones replace the least recently used. */
export class PreparedStatements {
  readonly #byKey = new LRUCache<string, PreparedStatement>({
    max: limits.statements,
    maxSize: limits.characters,
    sizeCalculation: ({ characters }) => characters + 1,
    dispose: (statement) => this.#outdated.push(statement.name),
  });
  #outdated: string[] = [];

  /** Returns the statement that was prepared under a key. */
  get(key: string): PreparedStatement | undefined {
    return this.#byKey.get(key);
  }

  /** Adds a statement that is about to be prepared; returns null when it is too long. */
  add(key: string, { length: characters }: string): PreparedStatement | null {
    if (characters > maxCharacters) return null;
    const statement: PreparedStatement = { name: `${namePrefix}${++count}`, characters, columns: null };
    this.#byKey.set(key, statement);
    return statement;
  }

  /** Forgets a statement that may or may not have been prepared. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }

  /** Returns names that Postgres can drop, each once. Dropping an unknown name isn't an error. */
  takeOutdated(): string[] {
    if (this.#outdated.length === 0) return this.#outdated;
    const names = this.#outdated;
    this.#outdated = [];
    return names;
  }
}

const unprepared = new WeakSet<ClientBase | Pool>();

/** Marks a connection or a pool on which nothing stays prepared: behind a pooler, the next transaction may run elsewhere. */
export function disablePreparing(client: ClientBase | Pool): void {
  unprepared.add(client);
}

/** Whether statements may be prepared on a connection. */
export const canPrepare = (client: ClientBase | Pool): boolean => !unprepared.has(client);

const byConnection = new WeakMap<ClientBase, PreparedStatements>();

/** Returns the prepared statements of a connection. */
export function getPreparedStatements(client: ClientBase): PreparedStatements {
  let statements = byConnection.get(client);
  if (!statements) byConnection.set(client, (statements = new PreparedStatements()));
  return statements;
}
