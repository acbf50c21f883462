import type { FieldSource } from "./field-source.ts";
import { NotCovered } from "./operation.ts";

/** Longer lists are counted no further. */
export const maxCount = 10_000;

/** The number of some rows as `n`: one more than the maximum means that there are more. */
export const countedRows = (rows: string, alias: string): string =>
  `(select count(*) as n from (select ${rows} limit ${maxCount + 1}) ${alias}) ${alias}`;

/** The JSON text of a field of `TotalCount`, from {@link countedRows}. */
export function countText(kind: FieldSource["kind"], alias: string): string {
  if (kind === "count") return `least(${alias}.n,${maxCount})::text`;
  if (kind === "precision") return `case when ${alias}.n>${maxCount} then '"AT_LEAST"' else '"EXACT"' end`;
  throw new NotCovered(kind);
}
