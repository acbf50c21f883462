import type { Node, RangeVar } from "libpg-query";

/** What is known of the database that a migration is going to run on, and of the rest of the migration. */
export interface Known {
  /** Whether a table has rows: it is there already, and not made by what is being written. */
  isOld(relation: RangeVar | undefined): boolean;
  /** Whether a column is made by what is being written. */
  isNewColumn(relation: RangeVar | undefined, column: string): boolean;
  /** Whether a function may give another value for each row. */
  isVolatile(name: string): boolean;
  /** Whether a constraint that has been checked says that a column isn't null. */
  isCheckedNotNull(table: string, column: string): boolean;
  /** Whether values of a type are checked one by one, as those of a domain. */
  isCheckedType(name: string): boolean;
  /** Constraints that are added by the same migration, as `table.constraint`. */
  addedConstraints: ReadonlySet<string>;
  /** Whether the file runs in a transaction. */
  isInTransaction: boolean;
  /** How many statements the file has. */
  statementCount: number;
}

export const relationName = ({ schemaname, relname }: RangeVar): string =>
  schemaname === undefined ? relname! : `${schemaname}.${relname!}`;

/** A name of several words, as lists of strings have it. */
export const dotted = (words: readonly Node[] | undefined): string =>
  (words ?? []).flatMap((word) => ("String" in word ? [word.String.sval!] : [])).join(".");

/** The tables in a list of nodes. */
export const relationsIn = (nodes: readonly Node[] = []): RangeVar[] =>
  nodes.flatMap((one) => ("RangeVar" in one ? [one.RangeVar] : []));
