import { randomUUID } from "node:crypto";
import type { SendTogether, Transaction } from "../postgres/pipeline/send-together.ts";
import type { ReadRows } from "../postgres/pipeline/read-text.ts";
import type { SettingsStatement, StatementUse } from "../postgres/pipeline/transaction-settings.ts";
import { runCall, runStatement } from "../postgres/run-statement.ts";
import type { MutationOutcome, MutationResult } from "../graphql/mutation-outcome.ts";
import { answerKeyLength, answerSetting } from "../reads/compile-payload.ts";
import { parseExactly } from "./exact-json.ts";
import { BookingGroups } from "./groups.ts";
import { groupSender } from "./joint.ts";
import type { JointOutcome, JointBooking } from "./joint.ts";
import { PayloadReader } from "./payload-reader.ts";
import type { PayloadRow } from "./payload-reader.ts";
import { dataOf } from "./payload-text.ts";
import { runCallOf } from "./run.ts";
import type { WantedMutation } from "./wanted.ts";

/** Who asks for a mutation, and with which rights. */
export interface MutationRequest {
  credentialId: string;
  requestId: string;
  /** When it arrived, on the clock of `performance`. */
  arrivedAt: number;
  /** Whether nobody waits for the answer any more. */
  isGone: () => boolean;
  scopeText: string;
  /** Of its operation. */
  use?: StatementUse | undefined;
  /** The trace that its events are passed on with. */
  traceparent?: string | undefined;
  /** Settings of the mutation's transaction. */
  settings: SettingsStatement;
  /** Settings of the transaction that reads the payload. */
  readSettings: SettingsStatement;
}

/** The data of the answer as JSON, or what became of the mutation when its payload is to be read otherwise. */
export type MutationAnswer = { data: string } | MutationOutcome;
/** Nobody waited any more when the call was about to be sent. Nothing was done. */
export class ClientGone extends Error {}

export type AnswerMutation = (wanted: WantedMutation, request: MutationRequest) => Promise<MutationAnswer>;

// The setting outlives the transaction, so the next one can read it. The key tells whose answer it is: behind a pooler the
// next transaction may run on another connection.
const runAndKeep = {
  text: `select set_config('${answerSetting}', $8::text || ${runCall}, false)`,
  name: "mutation.run, kept",
};

/** Makes mutations, alone or with others, and reads their payloads. */
export function mutationAnswerer(sendTogether: SendTogether, readRows: ReadRows): AnswerMutation {
  const { together, isUncertain } = groupSender(sendTogether);
  const payloads = new PayloadReader(readRows);
  const groups = new BookingGroups<JointOutcome, JointBooking>(together, isUncertain);
  return async (wanted, request) => {
    try {
      const alone = (onBegin?: () => void) => makeAlone(wanted, request, sendTogether, onBegin);
      const { credentialId: client, requestId, scopeText, use, traceparent } = request;
      const { call, joint } = wanted;
      const done = joint
        ? await groups.book({
            ...{ client, requestId, scopeText, use, traceparent, call, alone },
            ...{ product: joint.product, isRepeatable: call.idempotencyKey !== null },
          })
        : await alone();
      const data = dataOf(
        wanted.compiled,
        done.result,
        done.read ?? (await readPayload(wanted, request, done, payloads)),
      );
      return data === null ? { result: done.result } : { data };
    } catch (failure) {
      return { failure };
    }
  };
}

/** Makes a mutation and reads its payload, by one message: two transactions, of which the second reads what the first answers. */
function makeAlone(
  { call, compiled, values }: WantedMutation,
  { credentialId, arrivedAt, isGone, settings, readSettings }: MutationRequest,
  sendTogether: SendTogether,
  onSent: () => void = () => {},
): Promise<JointOutcome> {
  const { statement } = compiled.payload;
  return runCallOf(call, arrivedAt, async (parameters, onBegin) => {
    const key = randomUUID();
    const mutation = statement
      ? { ...runAndKeep, values: [...parameters, key], arrayMode: true }
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
    return {
      result,
      answeredAt: first!.answeredAt,
      read: second && "rows" in second ? (second.rows[0] as PayloadRow | undefined) : undefined,
    };
  });
}

/** Reads the payload of a mutation that was made with others; null when that fails, or there is nothing to read. */
async function readPayload(
  { compiled, values }: WantedMutation,
  { credentialId: client, readSettings: settings }: MutationRequest,
  { result: { payload }, isTogether }: JointOutcome,
  payloads: PayloadReader,
): Promise<PayloadRow | null> {
  const { statement } = compiled.payload;
  return isTogether && statement ? payloads.read({ client, settings, statement, values, payload }) : null;
}
