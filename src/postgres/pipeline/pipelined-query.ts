import type { ClientBase, Submittable } from "pg";
import type { Wire, WireField, WireListener } from "../pg-private.ts";
import { getParser, prepareValue, withoutTimers } from "../pg-private.ts";
import { getDeadline } from "./answer-deadline.ts";
import type { PgSettings, SettingsStatement } from "./transaction-settings.ts";
import { settingsStatement } from "./transaction-settings.ts";
import type { PreparedStatement, PreparedStatements } from "./prepared-statements.ts";
import { canPrepare, getPreparedStatements, createUnnamedStatement } from "./prepared-statements.ts";
import { forgetUnreplicated, isUnreplicated, Unreplicated } from "./unreplicated.ts";

/** A statement to send. */
export interface PipelinedStatement {
  text: string;
  values?: readonly unknown[] | undefined;
  /** Statements with a name are prepared once per connection. Equal names must mean equal texts, apart from comments. */
  name?: string | undefined;
  /** Whether rows are arrays instead of objects. */
  arrayMode?: boolean | undefined;
}

export interface PipelinedResult {
  rows: unknown[];
  rowCount: number | null;
}

type Callback = (error: Error | null, result: PipelinedResult | null) => void;

const noValues: readonly unknown[] = [];

/**
 * Settings and a statement, sent in one message and ended by one Sync: Postgres runs both in one implicit transaction, and
 * responds once. With BEGIN, SET, the statement and COMMIT there would be four round trips.
 *
 * It is a Submittable of `pg`, like cursors and streams: `pg` calls `submit` when the connection is free, and then the
 * `handle…` functions when responses arrive. If several queries are sent in one write, the `submit` of the first sends all.
 * Each still has its own Sync, and so its own transaction, error and response.
 */
export class PipelinedQuery implements Submittable, WireListener {
  readonly #callback: Callback;
  readonly #client: ClientBase;
  readonly #settings: SettingsStatement | null;
  readonly #statement: PipelinedStatement;
  /** The query that is sent after this one. */
  #next: PipelinedQuery | null = null;
  #isSent = false;
  #hasFailed = false;
  /** When it began on the connection. */
  #start = 0;
  readonly #prepared: PreparedStatements;
  readonly #rows: unknown[] = [];
  #rowCount: number | null = null;
  /** Whether the response to the settings is still incomplete. */
  #isSetting = false;
  /** Statements that this query is the first to prepare. If it fails, their state is unknown. */
  readonly #newlyPrepared: string[] = [];
  #target: PreparedStatement = createUnnamedStatement();

  constructor(
    client: ClientBase,
    settings: SettingsStatement | null,
    statement: PipelinedStatement,
    callback: Callback,
  ) {
    this.#client = client;
    this.#prepared = getPreparedStatements(client);
    this.#settings = settings;
    this.#statement = statement;
    this.#callback = callback;
  }

  /** Sends queries on one connection in one write. Their responses come in the same order. */
  static sendTogether(queries: readonly PipelinedQuery[]): void {
    queries.forEach((query, index) => void (query.#next = queries[index + 1] ?? null));
    queries[0]!.#enqueue();
  }

  /** Sends the query, and the ones after it. @returns an error when nothing was sent */
  submit(connection: unknown): Error | null {
    this.#start = performance.now();
    getDeadline(this.#client).begin(this);
    if (this.#isSent) return null;
    forgetUnreplicated(this.#client);
    const wire = connection as Wire;
    wire.stream.cork();
    try {
      const error = this.#send(wire);
      // A query that can't be sent stops the later ones, because responses must come in this order
      let query = error === null ? this.#next : null;
      while (query && query.#send(wire) === null) query = query.#next;
      return error;
    } finally {
      wire.stream.uncork();
    }
  }

  #send(wire: Wire): Error | null {
    const { text, values = noValues, name } = this.#statement;
    let mapped: unknown[];
    try {
      mapped = values.map(prepareValue);
    } catch (error) {
      return error as Error;
    }
    for (const outdated of this.#prepared.takeOutdated()) wire.close({ type: "S", name: outdated });
    const settings = this.#settings;
    if (settings) {
      this.#isSetting = true;
      this.#run(wire, this.#prepare(wire, settings.text, settings.text), settings.values);
    }
    if (name === undefined) wire.parse({ name: "", text });
    else this.#target = this.#prepare(wire, name, text);
    const { columns } = this.#target;
    this.#run(wire, this.#target, mapped, columns === null);
    wire.sync();
    this.#isSent = true;
    return null;
  }

  #prepare(wire: Wire, key: string, text: string): PreparedStatement {
    const known = this.#prepared.get(key);
    if (known) return known;
    const added = canPrepare(this.#client) ? this.#prepared.add(key, text) : null;
    if (added) this.#newlyPrepared.push(key);
    const statement = added ?? createUnnamedStatement();
    wire.parse({ name: statement.name, text });
    return statement;
  }

  #run(wire: Wire, { name }: PreparedStatement, values: readonly unknown[], describe = false): void {
    wire.bind({ statement: name, values, valueMapper: identity });
    if (describe) wire.describe({ type: "P", name: "" });
    wire.execute({ portal: "" });
  }

  handleRowDescription({ fields }: { fields: readonly WireField[] }): void {
    this.#target.columns = fields.map((field) => ({
      name: field.name,
      parse: getParser(this.#client, field),
    }));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const columns = this.#target.columns!;
    const { arrayMode } = this.#statement;
    const values = fields.map((field, index) => (field === null ? null : columns[index]!.parse(field)));
    this.#rows.push(
      arrayMode ? values : Object.fromEntries(columns.map(({ name }, index) => [name, values[index]])),
    );
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (this.#isSetting) this.#isSetting = false;
    else this.#rowCount = Number(/\d+$/.exec(text)?.[0] ?? Number.NaN);
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(connection: { sendCopyFail(reason: string): void }): void {
    connection.sendCopyFail("COPY isn't supported.");
  }
  handleCopyData(): void {}

  /** Called twice when a response takes too long: at the timeout, and when the connection ends because of it. */
  handleError(error: Error): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    getDeadline(this.#client).end(this);
    for (const key of this.#newlyPrepared) this.#prepared.forget(key);
    this.#newlyPrepared.length = 0;
    this.#note(0, error);
    this.#callback(error, null);
    // If Postgres didn't respond, it won't respond to the later queries either
    if ("severity" in error || !this.#isSent) this.#awaitNext();
    else this.#next?.handleError(error);
  }

  handleReadyForQuery(): void {
    // The response came too late
    if (this.#hasFailed) return;
    getDeadline(this.#client).end(this);
    const rowCount = Number.isNaN(this.#rowCount) ? null : this.#rowCount;
    this.#note(rowCount ?? this.#rows.length);
    if (isUnreplicated(this.#client)) this.#callback(new Unreplicated(), null);
    else this.#callback(null, { rows: this.#rows, rowCount });
    this.#awaitNext();
  }

  #note(rows: number, error: Error | null = null): void {
    const ms = performance.now() - this.#start;
    this.#settings?.use?.note({ text: this.#statement.text, ms, rows, error });
  }

  /** Makes the next query the connection's current one, which receives responses or is sent now. */
  #awaitNext(): void {
    if (this.#next) this.#next.#enqueue();
  }

  /** Queues the query on the connection, behind the ones before it. */
  #enqueue(): void {
    withoutTimers(this.#client, () => this.#client.query(this));
  }
}

const identity = (value: unknown): unknown => value;

/** Runs a statement with settings in its own transaction, with one message to Postgres. */
export function runPipelined(
  client: ClientBase,
  settings: PgSettings,
  statement: PipelinedStatement,
): Promise<PipelinedResult> {
  return new Promise((resolve, reject) => {
    const done: Callback = (error, result) => (error ? reject(error) : resolve(result!));
    PipelinedQuery.sendTogether([new PipelinedQuery(client, settingsStatement(settings), statement, done)]);
  });
}
