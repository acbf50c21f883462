import type { WithPgClient } from "postgraphile/@dataplan/pg";
import type { MutationCheck } from "../../src/graphql/mutation-check.ts";
import { parseExactly } from "../../src/mutations/exact-json.ts";
import { runCallOf, runStatement, textOfInput } from "../../src/mutations/run.ts";
import type { MutationCall } from "../../src/mutations/run.ts";
import type { MutationResult } from "../../src/graphql/mutation-outcome.ts";

/** A mutation that is to run. */
export interface PlannedMutation extends Omit<MutationCall, "input" | "refusals"> {
  /** The input, fields named as columns. */
  input: unknown;
  /** When its request arrived, on the clock of `performance`. */
  arrivedAt: number;
  /** Milliseconds that it may take. */
  timeoutMs: number;
  /** Checks that run before it. */
  check?: MutationCheck | undefined;
  /** The caller's scopes. */
  scopes: ReadonlySet<string>;
}

/** Runs a mutation in its own transaction. */
export async function runMutation(
  withPgClient: WithPgClient,
  pgSettings: Record<string, string | undefined> | null,
  wanted: PlannedMutation,
): Promise<MutationResult> {
  const { version, arrivedAt, timeoutMs } = wanted;
  const input = textOfInput(wanted.input);
  const refusals = await wanted.check?.(wanted.input as Record<string, unknown>, {
    version,
    scopes: wanted.scopes,
    query: <Row>(text: string, values: unknown[]) =>
      withPgClient(pgSettings as Record<string, string>, async (client) => {
        return (await client.query<Row>({ text, values })).rows;
      }),
  });
  const settings = { ...pgSettings, statement_timeout: String(timeoutMs) };
  const call: MutationCall = { ...wanted, input, refusals };
  const { result } = await runCallOf(call, arrivedAt, (parameters, onBegin) =>
    // One statement, and so one transaction: sent with its settings, committed when Postgres has answered
    withPgClient(settings as Record<string, string>, async (client) => {
      onBegin();
      const { rows } = await client.query<{ result: string }>({ ...runStatement, values: parameters });
      return { result: parseExactly(rows[0]!.result) as MutationResult };
    }),
  );
  return result;
}
