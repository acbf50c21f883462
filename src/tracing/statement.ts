import type { Attributes } from "@opentelemetry/api";
import { LRUCache } from "lru-cache";
import type { StatementRun } from "../postgres/pipeline/transaction-settings.ts";

/** How a trace shows a statement: its text, which has parameters instead of values, and never those. */
export function statementAttributes({ text, rows, error, sharedBy }: StatementRun): {
  name: string;
  attributes: Attributes;
  errorType: string | null;
} {
  const summary = summaries.memo(text);
  const attributes: Attributes = {
    "db.system.name": "postgresql",
    "db.operation.name": summary.split(" ")[0]!,
    "db.query.summary": summary,
    "db.query.text": text,
    "db.response.returned_rows": rows,
  };
  if (sharedBy !== undefined && sharedBy > 1) attributes["service.requests_together"] = sharedBy;
  const state = error && "code" in error ? String(error.code) : null;
  if (state !== null) attributes["db.response.status_code"] = state;
  return { name: summary, attributes, errorType: error ? (state ?? error.name) : null };
}

/** The kinds of statements, and the functions for a mutation or a chunk that they call. */
const summaries = new LRUCache<string, string>({
  max: 1_000,
  memoMethod(text) {
    const verb = /\w+/.exec(text)?.[0].toUpperCase() ?? "SQL";
    const [, called] = /\b(mutation\.run\w*|bulk\.\w+)\(/.exec(text) ?? [];
    return called === undefined ? verb : `${verb} ${called}`;
  },
});
