import { makeQueryErrors } from "../graphql/mutation-check.ts";
import type { MutationCheck } from "../graphql/mutation-check.ts";
import type { Reader } from "../versions/reader.ts";
import { exportQueries, RefusedExport } from "./export-query.ts";

const { error: fault, ofRefusal } = makeQueryErrors("query", "can't be exported");

/** Checks the query of an export: whether the caller may run it, and whether it reads one list. */
export function exportCheck(readerOf: (slug: string) => Reader | undefined): MutationCheck {
  return async ({ query, variables }, { scopes }) => {
    const reader = readerOf("unstable");
    // SQL refuses these
    if (!reader || typeof query !== "string" || query.length > 10_000) return [];
    const given = (variables ?? {}) as Record<string, unknown>;
    const refusal = await reader.refusal(query, given, scopes);
    if (refusal) return [ofRefusal(refusal)];
    try {
      exportQueries(reader.schema, query, given);
      return [];
    } catch (error) {
      if (!(error instanceof RefusedExport)) throw error;
      return [fault(error.message)];
    }
  };
}
