import type { WithPgClient } from "postgraphile/@dataplan/pg";
import { apiError } from "../../src/errors/api-error.ts";
import type { MutationCheck, UserErrorRow } from "../../src/graphql/mutation-check.ts";
import { markUncertain } from "../../src/errors/postgres-errors.ts";
import { retry } from "../../src/lib/retry.ts";

/** A call of `mutation.run`. */
export interface MutationCall {
  /** The Postgres schema of the version. */
  version: string;
  /** The function's name. */
  operation: string;
  /** The input, fields named as columns. */
  input: unknown;
  idempotencyKey: string | null;
  /** Null is passed on, to be refused. */
  validateOnly: boolean | null;
  /** Milliseconds that it may take. */
  timeoutMs: number;
  /** Checks that run before it. */
  check?: MutationCheck | undefined;
  /** The caller's settings. */
  scopes: ReadonlySet<string>;
}

/** Its result. */
export interface MutationResult {
  payload: Record<string, unknown> | null;
  userErrors: UserErrorRow[];
  warnings: UserErrorRow[];
}

const attempts = 4;

/** JSON as `JSON.stringify` writes it. Postgres receives it as text. */
const halfCharacter = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;

const isCollision = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "40001" || error.code === "40P01");

/**
 * Runs a mutation in its own transaction. After a collision with another transaction, which has undone it, it tries
 * again, three times.
 */
export async function runMutation(
  withPgClient: WithPgClient,
  pgSettings: Record<string, string | undefined> | null,
  call: MutationCall,
): Promise<MutationResult> {
  const { version, operation, input, idempotencyKey, validateOnly, timeoutMs } = call;
  const json = toJson(input);
  if (halfCharacter.test(json))
    throw apiError("BAD_USER_INPUT", "A text holds half of a character (a lone surrogate).");
  const refusals = await call.check?.(input as Record<string, unknown>, {
    version,
    scopes: call.scopes,
    query: <Row>(text: string, values: unknown[]) =>
      withPgClient(pgSettings as Record<string, string>, async (client) => {
        return (await client.query<Row>({ text, values })).rows;
      }),
  });
  if (refusals && refusals.length > 0) return { payload: null, userErrors: refusals, warnings: [] };
  const values = [version, operation, json, idempotencyKey, validateOnly];
  const settings = { ...pgSettings, statement_timeout: String(timeoutMs) };
  let isUnderWay = false;
  const attempt = () => {
    isUnderWay = false;
    // One statement, and so one transaction: sent with its settings, committed when Postgres has answered
    return withPgClient(settings as Record<string, string>, async (client) => {
      isUnderWay = true;
      const { rows } = await client.query<{ result: MutationResult }>({
        text: "select mutation.run($1, $2, $3, $4, $5) as result",
        name: "mutation.run",
        values,
      });
      return rows[0]!.result;
    });
  };
  return retry(attempt, {
    pauseMs(error, failures) {
      if (isCollision(error) && failures < attempts) return 10 * failures * (1 + Math.random());
      // Without a key, the caller can't find out by repeating it whether it was done.
      throw isUnderWay && idempotencyKey === null && !validateOnly ? markUncertain(error) : error;
    },
  });
}

function toJson(input: unknown): string {
  try {
    return JSON.stringify(input);
  } catch (error) {
    if (error instanceof RangeError) throw apiError("BAD_USER_INPUT", "A JSON value is nested too deeply.");
    throw error;
  }
}
