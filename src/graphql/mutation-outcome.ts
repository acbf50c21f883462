import type { UserErrorRow } from "./mutation-check.ts";

/** The result of `mutation.run`. */
export interface MutationResult {
  payload: Record<string, unknown> | null;
  userErrors: UserErrorRow[];
  warnings: UserErrorRow[];
  /** Time and age in Postgres of an earlier refusal with the same idempotency key. It holds for a call that arrived before it. */
  refusal?: { at: string; ageMs: number };
}

/** The outcome of a mutation that ran before its plan: its result or its failure. */
export type MutationOutcome = { result: MutationResult } | { failure: unknown };
