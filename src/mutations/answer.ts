import { randomUUID } from "node:crypto";
import type { GraphQLOutputType } from "postgraphile/graphql";
import { getNullableType, isLeafType, isListType, isNonNullType } from "postgraphile/graphql";
import type { SendTogether, Transaction } from "../database/pipeline/send-together.ts";
import type { SettingsStatement } from "../database/pipeline/settings.ts";
import type { MutationOutcome, MutationResult } from "../graphql/mutation-outcome.ts";
import { answerKeyLength, answerSetting } from "../reads/compile-payload.ts";
import { valuesOf, withRetries } from "./run.ts";
import type { WantedMutation } from "./wanted.ts";

/** Who asks for a mutation, and with which rights. */
export interface MutationRequest {
  credentialId: string;
  /** Settings of the mutation's transaction. */
  settings: SettingsStatement;
  /** Settings of the transaction that reads the payload. */
  readSettings: SettingsStatement;
}

/** The data of the answer as JSON, or what became of the mutation when its payload is to be read otherwise. */
export type MutationAnswer = { data: string } | MutationOutcome;

const run = { text: "select mutation.run($1, $2, $3, $4, $5)::text", name: "mutation.run as text" };
// The setting outlives the transaction, so the next one can read it. The key tells whose answer it is: behind a pooler the
// next transaction may run on another connection.
const runAndKeep = {
  text: `select set_config('${answerSetting}', $6::text || mutation.run($1, $2, $3, $4, $5)::text, false)`,
  name: "mutation.run, kept",
};

/**
 * Runs a mutation and reads its payload, by one message to Postgres: two transactions, of which the second reads what the
 * first one answers.
 */
export async function answerMutation(
  wanted: WantedMutation,
  { credentialId, settings, readSettings }: MutationRequest,
  sendTogether: SendTogether,
): Promise<MutationAnswer> {
  const { call, compiled, values } = wanted;
  const { statement } = compiled.payload;
  try {
    const [done, read] = await withRetries(call, async (onBegin) => {
      const key = randomUUID();
      const booking = statement
        ? { ...runAndKeep, values: [...valuesOf(call), key], arrayMode: true }
        : { ...run, values: valuesOf(call), arrayMode: true };
      const transactions: Transaction[] = [{ settings, statement: booking }];
      if (statement) {
        const { text, name } = statement;
        const reading = { text, name, values: [...values, null, key], arrayMode: true };
        transactions.push({ settings: readSettings, statement: reading });
      }
      const [first, second] = await sendTogether(credentialId, transactions, onBegin);
      if ("error" in first!) throw first.error;
      const [[text]] = first!.rows as [[string]];
      const result = JSON.parse(statement ? text.slice(answerKeyLength) : text) as MutationResult;
      return [result, second && "rows" in second ? second.rows[0] : undefined] as const;
    });
    const data = dataOf(wanted, done, read as (string | null)[] | undefined);
    return data === null ? { result: done } : { data };
  } catch (failure) {
    return { failure };
  }
}

/**
 * The data of an answer as JSON.
 *
 * @param read the columns of the statement that read the payload
 * @returns null when the plans of PostGraphile have to make it: for user errors and warnings, and when reading failed
 */
function dataOf(
  { compiled }: WantedMutation,
  result: MutationResult,
  read: readonly (string | null)[] | undefined,
): string | null {
  const { source, key, typeName, payload } = compiled;
  if (result.payload === null || (payload.statement && !read)) return null;
  let values: Record<string, unknown>;
  try {
    values = source.decode(result);
  } catch {
    return null; // An answer that another version has kept may be odd
  }
  const fields: string[] = [];
  for (const [name, part] of payload.parts) {
    let text: string | null;
    if (part.kind === "typename") text = JSON.stringify(typeName);
    else if (part.kind === "read") text = read![part.column]!;
    else text = valueText(part.type, values[part.name]);
    if (text === null) return null;
    fields.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${JSON.stringify(key)}:{${fields.join()}}}`;
}

/** The JSON text of a value; null for those that are not made here. */
function valueText(type: GraphQLOutputType, value: unknown): string | null {
  if (value == null) return isNonNullType(type) ? null : "null";
  const inner = getNullableType(type);
  if (isListType(inner)) return Array.isArray(value) && value.length === 0 ? "[]" : null;
  return isLeafType(inner) ? JSON.stringify(inner.serialize(value)) : null;
}
