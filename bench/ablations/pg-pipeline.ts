import type { ClientBase } from "pg";
import type { PipelinedResult, PipelinedStatement } from "../../src/postgres/pipeline/pipelined-query.ts";
import type { PgSettings, SettingsStatement } from "../../src/postgres/pipeline/transaction-settings.ts";
import { settingsStatement } from "../../src/postgres/pipeline/transaction-settings.ts";
import { configOf } from "./config.ts";

type Callback = (error: Error | null, result: PipelinedResult | null) => void;

/** A connection's stream, which pg's public types don't show. */
interface Connected {
  connection: { stream: { cork(): void; uncork(): void } };
}

/** Replaces src's class: the same transaction as four queries in one write, each of which pg ends with a Sync. */
export class PipelinedQuery {
  readonly #client: ClientBase;
  readonly #settings: SettingsStatement | null;
  readonly #statement: PipelinedStatement;
  readonly #callback: Callback;

  constructor(
    client: ClientBase,
    settings: SettingsStatement | null,
    statement: PipelinedStatement,
    callback: Callback,
  ) {
    this.#client = client;
    this.#settings = settings;
    this.#statement = statement;
    this.#callback = callback;
  }

  static sendTogether(queries: readonly PipelinedQuery[]): void {
    const { stream } = (queries[0]!.#client as unknown as Connected).connection;
    stream.cork();
    for (const query of queries) void query.#send();
    stream.uncork();
  }

  async #send(): Promise<void> {
    const client = this.#client;
    const settings = this.#settings;
    const sent = [
      client.query("begin"),
      ...(settings ? [client.query(configOf({ ...settings, name: settings.text }))] : []),
      client.query(configOf(this.#statement)),
      client.query("commit"),
    ];
    const answers = await Promise.allSettled(sent);
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed) return this.#callback(failed.reason as Error, null);
    this.#callback(null, (answers.at(-2) as PromiseFulfilledResult<PipelinedResult>).value);
  }
}

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
