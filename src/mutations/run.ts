import { apiError } from "../errors/api-error.ts";
import { pauseAfterCollision } from "../postgres/repeating.ts";
import { markUncertain } from "../errors/postgres-errors.ts";
import type { UserErrorRow } from "../graphql/mutation-check.ts";
import type { MutationResult } from "../graphql/mutation-outcome.ts";
import { retry } from "../lib/retry.ts";

/** SQL that calls the function that runs mutations, and a statement that does only that. */
export const runCallSql = "mutation.run($1, $2, $3, $4, $5, $6, $7)::text";
export const runStatement = { text: `select ${runCallSql} as result`, name: "mutation.run as text" };

/** A call of `mutation.run`. */
export interface MutationCall {
  /** The Postgres schema of the version. */
  version: string;
  /** The function's name. */
  operation: string;
  /** The input as JSON; its fields are named like columns. */
  input: string;
  idempotencyKey: string | null;
  /** Null is passed on to Postgres, which refuses it. */
  validateOnly: boolean | null;
  /** User errors found by checks that SQL can't do. */
  refusals?: readonly UserErrorRow[] | undefined;
}

/** How many times an earlier refusal is compared with a call, before the call counts as a new try. */
const maxLooks = 4;

/** Matches a lone surrogate in the JSON of `JSON.stringify`, which escapes it. */
const halfCharacter = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;

/** Returns an input as JSON. @throws BAD_USER_INPUT when it can't be sent */
export function serializeInput(input: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(input);
  } catch (error) {
    if (error instanceof RangeError) throw apiError("BAD_USER_INPUT", "A JSON value is nested too deeply.");
    throw error;
  }
  if (halfCharacter.test(text))
    throw apiError("BAD_USER_INPUT", "A text contains a lone surrogate (half of a character).");
  return text;
}

/** Returns the parameters of `mutation.run`. */
const buildParameters = (
  { version, operation, input, idempotencyKey, validateOnly, refusals }: MutationCall,
  newerThan: string | null,
): unknown[] => [
  version,
  operation,
  input,
  idempotencyKey,
  validateOnly,
  refusals?.length ? JSON.stringify(refusals) : null,
  newerThan,
];

/** Runs a call once with its parameters. `onBegin` is called just before it is sent. */
type Attempt<T> = (parameters: unknown[], onBegin: () => void) => Promise<T>;

/**
 * Runs a call, and runs it again if an earlier call with its idempotency key was refused. A refusal is final for calls that
 * arrived before it, even if they waited here or on the network. A call that arrived later is a new try.
 *
 * A call is new if the refusal is older in Postgres than the call is in this process. The time of the response counts as part of
 * the call's age. So clocks needn't agree, and a doubtful case only repeats the refusal. Each further look is measured again.
 *
 * @param arrivedAt when its request arrived at this process, on the clock of `performance`
 */
export async function runMutationCall<T extends { result: MutationResult; answeredAt?: number }>(
  call: MutationCall,
  arrivedAt: number,
  attempt: Attempt<T>,
): Promise<T> {
  let newerThan: string | null = null;
  for (let looks = 1; ; looks++) {
    const parameters = buildParameters(call, newerThan);
    const finished = await withRetries(call, (onBegin) => attempt(parameters, onBegin));
    const { answeredAt = performance.now(), result } = finished;
    const { refusal } = result;
    if (!refusal) return finished;
    if (answeredAt - arrivedAt <= refusal.ageMs) newerThan = refusal.at;
    else if (looks >= maxLooks) newerThan = "-infinity";
  }
}

/** Runs a call, and repeats it up to three times after a collision with another transaction, which rolled it back. */
function withRetries<T>(
  { idempotencyKey, validateOnly }: MutationCall,
  attempt: (onBegin: () => void) => Promise<T>,
): Promise<T> {
  let isUnderWay = false;
  const once = () => {
    isUnderWay = false;
    return attempt(() => void (isUnderWay = true));
  };
  return retry(once, {
    pauseMs(error, failures) {
      const pauseMs = pauseAfterCollision(error, failures);
      if (pauseMs !== null) return pauseMs;
      // Without an idempotency key, the caller can't repeat it to find out whether it was done
      throw isUnderWay && idempotencyKey === null && !validateOnly ? markUncertain(error) : error;
    },
  });
}
