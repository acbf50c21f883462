import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { Hop } from "./hops.ts";

/** Quantifiers: how many of the rows at the end of a relation must match. */
export const quantifiers = ["some", "none", "every"] as const;
export type Quantifier = (typeof quantifiers)[number];

/** The most relations that a filter follows one after the other. */
export const maxRelationDepth = 3;
/** The most relations in one filter. */
export const maxRelations = 10;

/**
 * Returns the condition that some, none or every row at the end of hops matches.
 *
 * Only rows that the caller may see count. `every` means that the condition is true for each row, so a row with an unknown
 * result (a comparison with null) fails it.
 *
 * @param from the alias of the rows where the hops begin
 * @param buildCondition returns the condition on the rows with an alias; null if all rows match
 */
export function buildRelatedCondition(
  hops: readonly Hop[],
  quantifier: Quantifier,
  from: SQL,
  buildCondition: (rows: SQL) => SQL | null,
): SQL {
  const names = hops.map(() => sql.identifier(Symbol("related")));
  const [first, ...others] = hops.map(({ to }, index) => sql`${to.from as SQL} ${names[index]!}`);
  const [begin, ...joins] = hops.map((hop, index) =>
    buildJoinCondition(hop, names[index - 1] ?? from, names[index]!),
  );
  const joined = others.map((rows, index) => sql` join ${rows} on ${joins[index]!}`);
  const match = buildCondition(names.at(-1)!);
  const condition = match && (quantifier === "every" ? sql`((${match}) is not true)` : sql`(${match})`);
  const where = condition ? sql`${begin!} and ${condition}` : begin!;
  const found = sql`exists(select from ${first!}${sql.join(joined, "")} where ${where})`;
  return quantifier === "some" ? found : sql`not ${found}`;
}

/** Returns the join condition of a hop, between the aliases of both sides. */
export const buildJoinCondition = ({ on }: Hop, local: SQL, remote: SQL): SQL =>
  sql.join(
    on.map((match) => sql`${remote}.${sql.identifier(match.remote)}=${local}.${sql.identifier(match.local)}`),
    " and ",
  );
