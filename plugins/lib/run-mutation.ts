import type { WithPgClient } from "postgraphile/@dataplan/pg";
import { parseExactly } from "../../src/mutations/exact-json.ts";
import { runMutationCall, runStatement, serializeInput } from "../../src/mutations/run.ts";
import type { MutationCall } from "../../src/mutations/run.ts";
import type { MutationResult } from "../../src/graphql/mutation-outcome.ts";
import type { NewSecret } from "../../src/graphql/context.ts";
import { defaultMutationTimeoutMs } from "../../src/graphql/context.ts";
import type { Mutation } from "./mutation-functions.ts";
import { hasTag } from "./tags.ts";

type Settings = Record<string, string>;

/** Runs a mutation in its own transaction, and notes that something was written. @param secret a new one that it stores */
export async function runMutation(
  { withPgClient, pgSettings }: { withPgClient: WithPgClient; pgSettings: Settings | null },
  context: Grafast.Context,
  { input, ...others }: Omit<MutationCall, "input" | "refusals"> & { input: unknown },
  secret: NewSecret | undefined,
): Promise<MutationResult> {
  const { version, operation } = others;
  const { mutationTimeoutMs = defaultMutationTimeoutMs, arrivedAt = performance.now() } = context;
  const settings: Settings = { ...pgSettings, ...(secret && secretSettings(secret)) };
  const refusals = await context.mutationChecks?.[operation]?.(input as Record<string, unknown>, {
    version,
    scopes: context.scopes ?? new Set(),
    query: <Row>(text: string, values: unknown[]) =>
      withPgClient(settings, async (client) => (await client.query<Row>({ text, values })).rows),
  });
  const call: MutationCall = { ...others, input: serializeInput(input), refusals };
  const bounded = { ...settings, statement_timeout: String(mutationTimeoutMs) };
  const { result } = await runMutationCall(call, arrivedAt, (parameters, onBegin) =>
    // One statement, and so one transaction: sent with its settings, committed when Postgres has answered
    withPgClient(bounded, async (client) => {
      onBegin();
      const { rows } = await client.query<{ result: string }>({ ...runStatement, values: parameters });
      return { result: parseExactly(rows[0]!.result) as MutationResult };
    }),
  );
  await context.noteWrite?.();
  return result;
}

/** Returns the column of a mutation's payload that shows a new secret, by its tag @secret; undefined if there is none. */
export function findSecretColumn({ payload }: Mutation): string | undefined {
  return Object.entries(payload.attributes!).find(([, attribute]) => hasTag(attribute, "secret"))?.[0];
}

/** Settings from which the function of a mutation reads the new secret. */
function secretSettings({ id, stored }: NewSecret): Record<string, string> {
  return { "service.new_secret_id": id, "service.new_secret": stored };
}

/** Replaces the id of a secret by the secret. A mutation returns the id when it has stored the secret. */
export function showSecret(result: MutationResult, column: string, { id, plain }: NewSecret): MutationResult {
  if (result.payload?.[column] !== id) return result;
  return { ...result, payload: { ...result.payload, [column]: plain } };
}
