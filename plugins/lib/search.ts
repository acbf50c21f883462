import type { PgResource } from "postgraphile/@dataplan/pg";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { hasTag } from "./tags.ts";

/** The function that searches a view, made by api_meta.derive_searches(); undefined when its lists aren't searched. */
export function searchOf({ codec }: PgResource): SQL | undefined {
  if (!hasTag(codec, "search")) return undefined;
  const { schemaName, name } = codec.extensions!.pg!;
  return sql.identifier("search", `${schemaName.replace(/^api_/, "")}_${name}`);
}
