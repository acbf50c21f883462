import { apiError } from "../errors/api-error.ts";
import { pauseAfterCollision } from "../database/repeating.ts";
import { markUncertain } from "../errors/postgres-errors.ts";
import { retry } from "../lib/retry.ts";

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
}

/** JSON as `JSON.stringify` writes it. Postgres receives it as text. */
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
export const parametersOf = ({ version, operation, input, idempotencyKey, validateOnly }: MutationCall) => [
  version,
  operation,
  input,
  idempotencyKey,
  validateOnly,
];

/**
 * Makes a call, and again after a collision with another transaction, which has undone it, three times.
 *
 * @param attempt makes it once; calls its parameter when it is about to be sent
 */
export function withRetries<T>(
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
