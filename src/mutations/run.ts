import { apiError } from "../errors/api-error.ts";
import { pauseAfterCollision } from "../postgres/repeating.ts";
import { markUncertain } from "../errors/postgres-errors.ts";
import type { UserErrorRow } from "../graphql/mutation-check.ts";
import type { MutationResult } from "../graphql/mutation-outcome.ts";
import { retry } from "../lib/retry.ts";

/** The call of the function that runs mutations, and the statement that is only that. */
export const runCall = "mutation.run($1, $2, $3, $4, $5, $6, $7)::text";
export const runStatement = { text: `select ${runCall} as result`, name: "mutation.run as text" };

/** A call of `mutation.run`. */
export interface MutationCall {
  /** The Postgres schema of the version. */
  version: string;
  /** The function's name. */
  operation: string;
  /** The input as JSON, fields named as columns. */
  input: string;
  idempotencyKey: string | null;
  /** Null is passed on, to be refused. */
  validateOnly: boolean | null;
  /** User errors of checks that SQL can't do. */
  refusals?: readonly UserErrorRow[] | undefined;
}

/** How often Postgres is asked for an earlier refusal, before a call counts as one that arrived before it. */
const maxLooks = 4;

/** Half of a character in the JSON of `JSON.stringify`, which escapes it. */
const halfCharacter = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;

/** The text of an input. @throws BAD_USER_INPUT when it can't be sent */
export function textOfInput(input: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(input);
  } catch (error) {
    if (error instanceof RangeError) throw apiError("BAD_USER_INPUT", "A JSON value is nested too deeply.");
    throw error;
  }
  if (halfCharacter.test(text))
    throw apiError("BAD_USER_INPUT", "A text holds half of a character (a lone surrogate).");
  return text;
}

/** The parameters of `mutation.run`. */
const parametersOf = (
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

/** Makes a call once with its parameters. `onBegin` is called when it is about to be sent. */
type Attempt<T> = (parameters: unknown[], onBegin: () => void) => Promise<T>;

/**
 * Makes a call, and again where an earlier one with its key was refused: a refusal is final for each call that arrived before it,
 * which may have waited here or on the way, and a call that arrived later is a new try.
 *
 * A call is new if the refusal is older in Postgres than the call is here, with the answer's way counted as the call's. So clocks
 * needn't agree, and a doubt only repeats the refusal. Another look has another way.
 *
 * @param arrivedAt when its request arrived at this process, on the clock of `performance`
 */
export async function runCallOf<T extends { result: MutationResult; answeredAt?: number }>(
  call: MutationCall,
  arrivedAt: number,
  attempt: Attempt<T>,
): Promise<T> {
  let newerThan: string | null = null;
  for (let looks = 1; ; looks++) {
    const parameters = parametersOf(call, newerThan);
    const made = await withRetries(call, (onBegin) => attempt(parameters, onBegin));
    const { answeredAt = performance.now(), result } = made;
    const { refusal } = result;
    if (!refusal) return made;
    if (answeredAt - arrivedAt <= refusal.ageMs) newerThan = refusal.at;
    else if (looks >= maxLooks) newerThan = "-infinity";
  }
}

/** Makes a call, and again after a collision with another transaction, which has undone it, three times. */
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
      // Without a key, the caller can't find out by repeating it whether it was done.
      throw isUnderWay && idempotencyKey === null && !validateOnly ? markUncertain(error) : error;
    },
  });
}
