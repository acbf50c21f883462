import { isConnectionBroken } from "../postgres/broken.ts";
import type { SendTogether } from "../postgres/pipeline/send-together.ts";
import type { Ran, StatementUse } from "../postgres/pipeline/transaction-settings.ts";
import { noteShared, settingsStatement } from "../postgres/pipeline/transaction-settings.ts";
import { ownClient } from "../postgres/shared-pool.ts";
import { markUncertain } from "../errors/postgres-errors.ts";
import type { MutationResult } from "../graphql/mutation-outcome.ts";
import { parseExactly } from "./exact-json.ts";
import type { Booking, BookTogether } from "./groups.ts";
import type { PayloadRow } from "./payload-reader.ts";
import type { MutationCall } from "./run.ts";

/** A mutation that was done, or refused. */
export interface JointOutcome {
  result: MutationResult;
  /** When that was answered, on the clock of `performance`. */
  answeredAt?: number;
  /** The columns of the statement that read its payload, if that was read. */
  read?: PayloadRow | undefined;
  /** Whether it was made with others, and the payload wasn't read yet. */
  isTogether?: true;
}

/** A call that may be made with others. */
export interface JointBooking extends Booking<JointOutcome> {
  call: MutationCall;
  requestId: string;
  scopeText: string;
  use?: StatementUse | undefined;
  traceparent?: string | undefined;
}

/**
 * What a group may take. A lock that is held for longer concerns some of its calls only, which wait for it alone.
 * `mutation.run_together` gets the rights of each call with the call.
 */
const settings = settingsStatement({
  role: "service_api",
  "service.scopes": "",
  statement_timeout: "5s",
  lock_timeout: "100ms",
})!;

/** Sends groups of calls. */
export function groupSender(sendTogether: SendTogether): {
  together: BookTogether<JointOutcome, JointBooking>;
  isUncertain: (error: unknown) => boolean;
} {
  const uncertain = new WeakSet<object>();
  return {
    isUncertain: (error) => error instanceof Error && uncertain.has(error),
    async together(bookings) {
      const statement = {
        text: "select mutation.run_together($1)::text",
        name: "mutation.run_together",
        values: [`[${bookings.map(jsonOf).join()}]`],
        arrayMode: true,
      };
      let isSent = false;
      const payers = bookings.map(({ client }) => client);
      const onBegin = () => void (isSent = true);
      const uses = bookings.map(({ use }) => use);
      const note = (ran: Ran) => noteShared(ran, uses);
      const shared = { ...settings, use: { applicationName: "service", note } };
      const [outcome] = await sendTogether(ownClient, [{ settings: shared, statement }], onBegin, payers);
      if ("error" in outcome!) {
        const { error } = outcome;
        if (isSent && isConnectionBroken(error)) uncertain.add(markUncertain(error) as Error);
        throw error;
      }
      const [[text]] = outcome!.rows as [[string]];
      const answers = parseExactly(text) as (MutationResult | null)[];
      return answers.map((result) => result && { result, isTogether: true });
    },
  };
}

/** A call as `mutation.run_together` takes it. */
function jsonOf({ call, client, requestId, scopeText, traceparent }: JointBooking): string {
  const { version, operation, input, idempotencyKey: key } = call;
  const caller = { credential_id: client, request_id: requestId, scopes: scopeText, traceparent };
  const others = { version, operation, key, ...caller };
  // The input is JSON already
  return `{"input":${input},${JSON.stringify(others).slice(1)}`;
}
