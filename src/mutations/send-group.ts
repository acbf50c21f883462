import { isConnectionBroken } from "../postgres/broken.ts";
import type { SendTransactions } from "../postgres/pipeline/send-together.ts";
import type { StatementRun, StatementUse } from "../postgres/pipeline/transaction-settings.ts";
import { noteSharedRun, settingsStatement } from "../postgres/pipeline/transaction-settings.ts";
import { serviceClient } from "../postgres/shared-pool.ts";
import { markUncertain } from "../errors/postgres-errors.ts";
import type { MutationResult } from "../graphql/mutation-outcome.ts";
import { parseExactly } from "./exact-json.ts";
import type { GroupCall, SendGroup } from "./group-commit.ts";
import { GroupLost } from "./group-commit.ts";
import type { PayloadRow } from "./payload-reader.ts";
import type { MutationCall } from "./run.ts";

/** A mutation that was done or refused. */
export interface FinishedMutation {
  result: MutationResult;
  /** When the response came from Postgres, on the clock of `performance`. */
  answeredAt?: number;
  /** The columns of the statement that read its payload; undefined if it hasn't been read yet. */
  read?: PayloadRow | null;
}

/** The credential and request that a mutation runs for, with the scopes. */
export interface MutationCaller {
  credentialId: string;
  requestId: string;
  scopeText: string;
  /** The operation that its statements are counted for. */
  use?: StatementUse | undefined;
  /** The trace context that its events carry. */
  traceparent?: string | undefined;
}

/** A call of a mutation that may join a group commit. */
export interface MutationGroupCall extends GroupCall<FinishedMutation> {
  mutation: MutationCall;
  caller: MutationCaller;
}

/**
 * Settings of a group's transaction. If a lock takes longer than 100 ms, the calls that need it wait for it alone.
 * `mutation.run_together` receives each call with its scopes.
 */
const settings = settingsStatement({
  role: "service_api",
  "service.scopes": "",
  statement_timeout: "5s",
  lock_timeout: "100ms",
})!;

/** Returns a function that sends a group of calls as one statement. */
export function createGroupSender(
  sendTogether: SendTransactions,
): SendGroup<FinishedMutation, MutationGroupCall> {
  return async (calls) => {
    const statement = {
      text: "select mutation.run_together($1)::text",
      name: "mutation.run_together",
      values: [`[${calls.map(serializeCall).join()}]`],
      arrayMode: true,
    };
    const uses = calls.map(({ caller }) => caller.use);
    const use = { applicationName: "service", note: (ran: StatementRun) => noteSharedRun(ran, uses) };
    const payers = calls.map(({ client }) => client);
    let isSent = false;
    const onBegin = () => void (isSent = true);
    const transaction = { settings: { ...settings, use }, statement };
    const [outcome] = await sendTogether(serviceClient, [transaction], onBegin, payers);
    if ("error" in outcome!) {
      const { error } = outcome;
      throw isSent && isConnectionBroken(error) ? new GroupLost(markUncertain(error) as Error) : error;
    }
    const [[text]] = outcome!.rows as [[string]];
    return (parseExactly(text) as (MutationResult | null)[]).map((result) => result && { result });
  };
}

/** Returns a call as JSON for `mutation.run_together`. */
function serializeCall({ mutation, caller }: MutationGroupCall): string {
  const { version, operation, input, idempotencyKey: key } = mutation;
  const { credentialId: credential_id, requestId: request_id, scopeText: scopes, traceparent } = caller;
  const others = { version, operation, key, credential_id, request_id, scopes, traceparent };
  // The input is JSON already
  return `{"input":${input},${JSON.stringify(others).slice(1)}`;
}
