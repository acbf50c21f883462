import type { Pool } from "pg";
import type { NodePostgresPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import type { WithClients } from "../postgres/pg-service.ts";
import { settingsStatement } from "../postgres/pipeline/transaction-settings.ts";
import type { BulkTrace } from "../tracing/spans.ts";
import { withTrace } from "./traced.ts";

type Work = (client: NodePostgresPgClient) => unknown;

/** Begins a read-only transaction with a snapshot of the database. It runs one query at a time. */
export async function openSnapshot(pool: Pool, trace: BulkTrace | null) {
  const client = await pool.connect();
  let last: Promise<unknown> = Promise.resolve();
  try {
    await client.query("begin isolation level repeatable read, read only");
  } catch (error) {
    client.release(true);
    throw error;
  }
  const inside = {
    rawClient: client,
    query: ({ text, name, values, arrayMode }: Parameters<NodePostgresPgClient["query"]>[0]) =>
      withTrace(trace, text, () =>
        client.query({
          text,
          name,
          values: values as unknown[],
          ...(arrayMode && { rowMode: "array" }),
        } as never),
      ),
  } as unknown as NodePostgresPgClient;
  const withPgClient = (settings: Record<string, string | undefined> | null, work: Work) => {
    const next = last.then(async () => {
      const statement = settingsStatement(settings);
      if (statement) await client.query(statement);
      return work(inside);
    });
    last = next.catch(() => {});
    return next;
  };
  return {
    withPgClient: withPgClient as WithClients,
    async close(): Promise<void> {
      await last;
      const failed = await client.query("rollback").then(
        () => false,
        () => true,
      );
      client.release(failed);
    },
  };
}
