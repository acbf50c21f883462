import type { QueryConfig } from "pg";
import type { PipelinedStatement } from "../../src/postgres/pipeline/pipelined-query.ts";

const names = new Map<string, string>();

/** A short name for a text, which is prepared by that. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `bench_${names.size}`));
  return name;
}

/** A statement in the form of `pg`. */
export const configOf = ({ text, values = [], name, arrayMode }: PipelinedStatement): QueryConfig => ({
  text,
  values: [...values],
  ...(name === undefined ? {} : { name: nameOf(text) }),
  ...(arrayMode ? { rowMode: "array" } : {}),
});
