import type { QueryConfig } from "pg";
import type { PipelinedStatement } from "../../src/postgres/pipeline/pipelined-query.ts";

const names = new Map<string, string>();

/** Returns a short name for a prepared statement. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `bench_${names.size}`));
  return name;
}

/** Converts a statement to the format of `pg`. */
export const configOf = ({ text, values = [], name, arrayMode }: PipelinedStatement): QueryConfig => ({
  text,
  values: [...values],
  ...(name === undefined ? {} : { name: nameOf(text) }),
  ...(arrayMode ? { rowMode: "array" } : {}),
});
