import { DatabaseSync } from "node:sqlite";

/** Where something goes: into the service, or out to the shop. */
export type Direction = "in" | "out";

/** Something to bring to the other side, as a message told of it. */
export interface News {
  direction: Direction;
  /** What it is about, for example an order with its id. */
  subject: string;
  /** Grows with each change of the subject; empty if the content only names what to look at. */
  version: string;
  content: unknown;
}

/** News that are to be worked off. */
export interface Task {
  subject: string;
  /** Id of the message that told of it last. */
  message: string;
  content: unknown;
  /** How often it has failed. */
  attempts: number;
}

type Row = Record<string, string | number | null>;

/** For how long a repeated message is recognised. */
const keptMs = 30 * 24 * 60 * 60_000;

/**
 * Keeps messages on disk until their news are worked off. Of each subject only the newest state is kept: whatever
 * comes late, twice or in another order, the other side ends as the newest message says.
 */
export class Inbox {
  readonly #db: DatabaseSync;

  /** @param path file of the SQLite database */
  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    this.#db.exec(`
      pragma journal_mode = wal;
      pragma synchronous = full;
      create table if not exists message (id text primary key, received_at integer not null) strict;
      create table if not exists subject (
        name text primary key, direction text not null, version text not null, message text not null,
        content text, due_at integer, attempts integer not null default 0, error text
      ) strict;
      create index if not exists subject_due on subject (direction, due_at) where due_at is not null`);
    this.#run("delete from message where received_at < ?", Date.now() - keptMs);
  }

  /** Stores a message, safe from a power cut when it returns. One that is there already changes nothing. */
  add(message: string, news: readonly News[]): void {
    this.#db.exec("begin immediate");
    try {
      const { changes } = this.#run("insert or ignore into message values (?, ?)", message, Date.now());
      if (changes === 1) for (const item of news) this.#note(message, item);
      this.#db.exec("commit");
    } catch (error) {
      this.#db.exec("rollback");
      throw error;
    }
  }

  #note(message: string, { direction, subject, version, content }: News): void {
    this.#run(
      `insert into subject (name, direction, version, message, content, due_at) values (?, ?, ?, ?, ?, ?)
       on conflict (name) do update set version = excluded.version, message = excluded.message,
         content = excluded.content, due_at = excluded.due_at, attempts = 0, error = null
       where excluded.version >= subject.version`,
      ...[subject, direction, version, message, JSON.stringify(content), Date.now()],
    );
  }

  /** What has been due for longest. */
  next(direction: Direction): Task | null {
    const row = this.#db
      .prepare(
        `select name, message, content, attempts from subject
         where direction = ? and due_at <= ? order by due_at, rowid limit 1`,
      )
      .get(direction, Date.now()) as Row | undefined;
    if (!row) return null;
    const { name, message, content, attempts } = row as { [key: string]: string } & { attempts: never };
    return { subject: name!, message: message!, content: JSON.parse(content!), attempts: Number(attempts) };
  }

  /** When the next task is due; null if there is none. */
  nextDueAt(direction: Direction): number | null {
    const row = this.#db
      .prepare("select min(due_at) as due_at from subject where direction = ? and due_at is not null")
      .get(direction) as { due_at: number | null };
    return row.due_at;
  }

  /** Unless a newer message has come meanwhile. */
  done({ subject, message }: Task): void {
    this.#run(
      "update subject set content = null, due_at = null, error = null where name = ? and message = ?",
      ...[subject, message],
    );
  }

  /** Puts a task off, unless a newer message has come meanwhile. */
  failed({ subject, message }: Task, error: string, pauseMs: number): void {
    this.#run(
      `update subject set attempts = attempts + 1, error = ?, due_at = ? where name = ? and message = ?`,
      ...[error, Date.now() + pauseMs, subject, message],
    );
  }

  #run(sql: string, ...values: (string | number | null)[]) {
    return this.#db.prepare(sql).run(...values);
  }
}
