import type { UserErrorRow } from "./mutation-check.ts";

/** What `mutation.run` answers. */
export interface MutationResult {
  payload: Record<string, unknown> | null;
  userErrors: UserErrorRow[];
  warnings: UserErrorRow[];
  /** Of an earlier refusal with the same key, which holds for a call that arrived before it: its moment, and its age in Postgres. */
  refusal?: { at: string; ageMs: number };
}

/** What became of a mutation that ran before its plan: its answer, or why it failed. */
export type MutationOutcome = { result: MutationResult } | { failure: unknown };
