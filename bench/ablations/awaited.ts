import type { ClientBase } from "pg";
import type { PipelinedResult, PipelinedStatement } from "../../src/postgres/pipeline/pipelined-query.ts";
import type { SettingsStatement } from "../../src/postgres/pipeline/transaction-settings.ts";
import { configOf } from "./config.ts";

type Callback = (error: Error | null, result: PipelinedResult | null) => void;

/** Replaces src's class: the same transaction in four messages, each of which is awaited. */
export class PipelinedQuery {
  readonly #run: () => Promise<PipelinedResult>;
  readonly #callback: Callback;

  constructor(
    client: ClientBase,
    settings: SettingsStatement | null,
    statement: PipelinedStatement,
    callback: Callback,
  ) {
    this.#callback = callback;
    this.#run = async () => {
      await client.query("begin");
      try {
        if (settings) await client.query(configOf({ ...settings, name: settings.text }));
        const result = await client.query(configOf(statement));
        await client.query("commit");
        return result;
      } catch (error) {
        await client.query("rollback");
        throw error;
      }
    };
  }

  static sendTogether(queries: readonly PipelinedQuery[]): void {
    void (async () => {
      for (const query of queries)
        await query.#run().then(
          (result) => query.#callback(null, result),
          (error: Error) => query.#callback(error, null),
        );
    })();
  }
}
