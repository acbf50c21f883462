import type { AlterTableCmd, Constraint, Node } from "libpg-query";
import type { Danger, DdlRule } from "./rule.ts";
import { changesOf } from "./rule.ts";

/** The constraints that a part of `alter table` adds, those of a new column too. */
function addedBy({ subtype, def }: AlterTableCmd): { constraint: Constraint; isOfNewColumn: boolean }[] {
  if (def !== undefined && "Constraint" in def && subtype === "AT_AddConstraint")
    return [{ constraint: def.Constraint, isOfNewColumn: false }];
  if (def === undefined || !("ColumnDef" in def) || subtype !== "AT_AddColumn") return [];
  return (def.ColumnDef.constraints ?? []).flatMap((one) =>
    "Constraint" in one ? [{ constraint: one.Constraint, isOfNewColumn: true }] : [],
  );
}

const titles: Partial<Record<NonNullable<Constraint["contype"]>, string>> = {
  CONSTR_CHECK: "check",
  CONSTR_FOREIGN: "foreign key",
  CONSTR_NOTNULL: "not null",
};

const addValidated: DdlRule = {
  name: "constraint-scans",
  why: "All rows are looked at, while nobody else can write the table, and nobody can read it either unless it is a foreign key.",
  wayOut:
    "add the constraint not valid, which holds for new rows at once; and in the next migration: alter table TABLE validate constraint …. That one looks at the rows while others read and write.",
  find: (node, known) =>
    changesOf(node, known).flatMap(({ table, change }) =>
      addedBy(change).flatMap(({ constraint, isOfNewColumn }): Danger[] => {
        const { contype, conname = "", skip_validation: isUnchecked = false } = constraint;
        // A new column without a value refers to nothing, and has its own rule about not null
        if (isUnchecked || (isOfNewColumn && contype !== "CONSTR_CHECK")) return [];
        const title = titles[contype!];
        if (title === undefined) return [];
        return [{ object: table, what: `${title} ${conname}`.trim() }];
      }),
    ),
};

const buildsIndex: DdlRule = {
  name: "constraint-builds-index",
  why: "Its index is built while nobody else can read or write the table.",
  wayOut:
    "create unique index concurrently in a migration of its own, which begins with --! no-transaction; and in the next: alter table TABLE add constraint … unique using index ….",
  find: (node, known) =>
    changesOf(node, known).flatMap(({ table, change }) =>
      addedBy(change).flatMap(({ constraint: { contype, conname = "", indexname } }): Danger[] => {
        const isIndexed = ["CONSTR_UNIQUE", "CONSTR_PRIMARY", "CONSTR_EXCLUSION"].includes(contype!);
        return isIndexed && indexname === undefined ? [{ object: table, what: conname }] : [];
      }),
    ),
};

const validatesAtOnce: DdlRule = {
  name: "validates-at-once",
  why: "Adding the constraint has locked the table until the end of the transaction, so others wait while all rows are looked at.",
  wayOut: "validate it in the next migration.",
  find: (node, known) =>
    changesOf(node, known)
      .filter(
        ({ table, change }) =>
          change.subtype === "AT_ValidateConstraint" && known.addedConstraints.has(`${table}.${change.name}`),
      )
      .map(({ table, change }) => ({ object: table, what: change.name! })),
};

/** Constraints that a statement adds to tables, as `table.constraint`. */
export function addedConstraints(node: Node): string[] {
  if (!("AlterTableStmt" in node)) return [];
  const { relation, cmds = [] } = node.AlterTableStmt;
  const table = [relation?.schemaname, relation?.relname].filter(Boolean).join(".");
  return cmds.flatMap((command) =>
    "AlterTableCmd" in command
      ? addedBy(command.AlterTableCmd).map(({ constraint }) => `${table}.${constraint.conname}`)
      : [],
  );
}

/** Rules about constraints. */
export const constraintRules: readonly DdlRule[] = [addValidated, buildsIndex, validatesAtOnce];
