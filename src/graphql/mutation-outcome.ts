import type { UserErrorRow } from "./mutation-check.ts";

/** What `mutation.run` answers. */
export interface MutationResult {
  payload: Record<string, unknown> | null;
  userErrors: UserErrorRow[];
  warnings: UserErrorRow[];
}

/** What became of a mutation that ran before its plan: its answer, or why it failed. */
export type MutationOutcome = { result: MutationResult } | { failure: unknown };
