import { randomUUID } from "node:crypto";
import type { ReadRows } from "../postgres/pipeline/read-text.ts";
import type { SendTransactions, Transaction } from "../postgres/pipeline/send-together.ts";
import type { SettingsStatement } from "../postgres/pipeline/transaction-settings.ts";
import type { MutationOutcome, MutationResult } from "../graphql/mutation-outcome.ts";
import { answerKeyLength, answerSetting } from "../reads/compile-payload.ts";
import { parseExactly } from "./exact-json.ts";
import { GroupCommit } from "./group-commit.ts";
import { PayloadReader } from "./payload-reader.ts";
import type { PayloadRow } from "./payload-reader.ts";
import { buildData } from "./payload-text.ts";
import { runCallSql, runMutationCall, runStatement } from "./run.ts";
import type { FinishedMutation, MutationCaller, MutationGroupCall } from "./send-group.ts";
import { createGroupSender } from "./send-group.ts";
import type { RequestedMutation } from "./wanted.ts";

/** A request for a mutation. */
export interface MutationRequest extends MutationCaller {
  /** When it arrived, on the clock of `performance`. */
  arrivedAt: number;
  /** Whether the client no longer waits for the response. */
  isGone: () => boolean;
  /** Settings of the mutation's transaction. */
  settings: SettingsStatement;
  /** Settings of the transaction that reads the payload. */
  readSettings: SettingsStatement;
}

/** The response's data as JSON, or the mutation's outcome if Grafast has to read its payload. */
export type MutationResponse = { data: string } | MutationOutcome;
/** Thrown when the client has gone before its call was sent. Nothing was done. */
export class ClientGone extends Error {}

export type RunMutation = (wanted: RequestedMutation, request: MutationRequest) => Promise<MutationResponse>;

// The setting outlives the transaction, so the next one can read it. The key identifies the result: behind a pooler the
// next transaction may run on another connection, with the result of another call.
const runAndStore = {
  text: `select set_config('${answerSetting}', $8::text || ${runCallSql}, false)`,
  name: "mutation.run, stored",
};

/** Returns a function that runs mutations, alone or in a group commit, and reads their payloads. */
export function createMutationRunner(sendTogether: SendTransactions, readRows: ReadRows): RunMutation {
  const payloads = new PayloadReader(readRows);
  const groups = new GroupCommit<FinishedMutation, MutationGroupCall>(createGroupSender(sendTogether));
  return async (requested, request) => {
    const { call: mutation, groupKey, compiled, values } = requested;
    const { credentialId: client, readSettings: settings } = request;
    try {
      const runAlone = (onBegin?: () => void) => sendAlone(requested, request, sendTogether, onBegin);
      const isRepeatable = mutation.idempotencyKey !== null;
      const made = groupKey
        ? await groups.run({
            client,
            key: groupKey,
            isRepeatable,
            runAlone: runAlone,
            mutation,
            caller: request,
          })
        : await runAlone();
      const { result } = made;
      const { statement } = compiled.payload;
      const read =
        made.read === undefined && statement
          ? await payloads.read({ client, settings, statement, values, payload: result.payload })
          : made.read;
      const data = buildData(compiled, result, read);
      return data === null ? { result } : { data };
    } catch (failure) {
      return { failure };
    }
  };
}

/** Runs a mutation alone and reads its payload. One message has both transactions; the second reads the first one's result. */
function sendAlone(
  { call, compiled, values }: RequestedMutation,
  { credentialId, arrivedAt, isGone, settings, readSettings }: MutationRequest,
  sendTogether: SendTransactions,
  onSent: () => void = () => {},
): Promise<FinishedMutation> {
  const { statement } = compiled.payload;
  return runMutationCall(call, arrivedAt, async (parameters, onBegin) => {
    const key = randomUUID();
    const mutation = statement
      ? { ...runAndStore, values: [...parameters, key], arrayMode: true }
      : { ...runStatement, values: parameters, arrayMode: true };
    const transactions: Transaction[] = [{ settings, statement: mutation }];
    if (statement) {
      const { text, name } = statement;
      const reading = { text, name, values: [...values, null, key], arrayMode: true };
      transactions.push({ settings: readSettings, statement: reading });
    }
    const [first, second] = await sendTogether(credentialId, transactions, () => {
      if (isGone()) throw new ClientGone();
      onBegin();
      onSent();
    });
    if ("error" in first!) throw first.error;
    const [[text]] = first!.rows as [[string]];
    const result = parseExactly(statement ? text.slice(answerKeyLength) : text) as MutationResult;
    const rows = second && "rows" in second ? second.rows : [];
    return { result, answeredAt: first!.answeredAt, read: (rows[0] as PayloadRow | undefined) ?? null };
  });
}
