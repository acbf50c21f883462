import type { Node, RangeVar } from "libpg-query";

/** Facts about the database that a migration will run on, and about the rest of the migration. */
export interface DdlFacts {
  /** Whether a table may have rows: it existed before the uncommitted migrations. */
  isOld(relation: RangeVar | undefined): boolean;
  /** Whether the uncommitted migrations create the column. */
  isNewColumn(relation: RangeVar | undefined, column: string): boolean;
  /** Whether a function may return a different value for each row. */
  isVolatile(name: string): boolean;
  /** Whether a validated constraint guarantees that a column isn't null. */
  isCheckedNotNull(table: string, column: string): boolean;
  /** Whether Postgres checks each value of a type, as it does for a domain with a rule. */
  isCheckedType(name: string): boolean;
  /** Constraints that the same migration adds, as `table.constraint`. */
  addedConstraints: ReadonlySet<string>;
  /** Whether the file runs in a transaction. */
  isInTransaction: boolean;
  /** The number of statements in the file. */
  statementCount: number;
}

export const relationName = ({ schemaname, relname }: RangeVar): string =>
  schemaname === undefined ? relname! : `${schemaname}.${relname!}`;

/** Joins the parts of a qualified name with dots. */
export const joinNameParts = (words: readonly Node[] | undefined): string =>
  (words ?? []).flatMap((word) => ("String" in word ? [word.String.sval!] : [])).join(".");

/** The tables in a list of nodes. */
export const listRelations = (nodes: readonly Node[] = []): RangeVar[] =>
  nodes.flatMap((one) => ("RangeVar" in one ? [one.RangeVar] : []));
