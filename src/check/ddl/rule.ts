import type { AlterTableCmd, Node, RangeVar } from "libpg-query";
import type { Severity } from "../finding.ts";

/** Something dangerous in a statement. */
export interface Danger {
  /** The table, or whatever else it is about. */
  object: string;
  what: string;
  /** Instead of the rule's. */
  wayOut?: string;
}

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

/** A rule about dangerous statements. */
export interface DdlRule {
  name: string;
  /** By default it is an error. */
  severity?: Severity;
  why: string;
  /** `TABLE` and `WHAT` stand for what is found. */
  wayOut: string;
  find(node: Node, known: Known): Danger[];
}

export const relationName = ({ schemaname, relname }: RangeVar): string =>
  schemaname === undefined ? relname! : `${schemaname}.${relname!}`;

/** A name of several words, as lists of strings have it. */
export const dotted = (words: readonly Node[] | undefined): string =>
  (words ?? []).flatMap((word) => ("String" in word ? [word.String.sval!] : [])).join(".");

/** The parts of `alter table`, if it is about a table with rows. */
export function changesOf(
  node: Node,
  known: Known,
): { table: string; relation: RangeVar; change: AlterTableCmd }[] {
  if (!("AlterTableStmt" in node)) return [];
  const { relation, cmds = [], objtype } = node.AlterTableStmt;
  if (objtype !== "OBJECT_TABLE" || relation === undefined || !known.isOld(relation)) return [];
  return cmds.flatMap((command) =>
    "AlterTableCmd" in command
      ? [{ table: relationName(relation), relation, change: command.AlterTableCmd }]
      : [],
  );
}
