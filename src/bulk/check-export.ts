import type { MutationCheck, UserErrorRow } from "../graphql/mutation-check.ts";
import type { Reader } from "../versions/reader.ts";
import { exportQueries, NoExport } from "./export-query.ts";

/** Checks the query of an export: whether the caller may run it, and whether it is one of a list. */
export function exportCheck(readerOf: (slug: string) => Reader | undefined): MutationCheck {
  return async ({ query, variables }, { scopes }) => {
    const reader = readerOf("unstable");
    // SQL checks the others
    if (!reader || typeof query !== "string" || query.length > 10_000) return [];
    const given = (variables ?? {}) as Record<string, unknown>;
    const refusal = await reader.refusal(query, given, scopes);
    if (refusal) {
      const { code, ...details } = refusal.extensions;
      const isScope = code === "FORBIDDEN";
      return [fault(refusal.message, isScope ? "SCOPE_MISSING" : "INVALID", isScope ? details : null)];
    }
    try {
      exportQueries(reader.schema, query, given);
      return [];
    } catch (error) {
      if (!(error instanceof NoExport)) throw error;
      return [fault(error.message, "INVALID", null)];
    }
  };
}

const fault = (message: string, code: string, details: unknown): UserErrorRow => ({
  code,
  message: `The query can't be exported: ${message.replace(/[.]?$/, ".")}`,
  field: ["query"],
  details,
});
