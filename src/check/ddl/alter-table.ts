import type { AlterTableCmd, AlterTableStmt, ColumnDef, Constraint, Node, RangeVar } from "libpg-query";
import { joinNameParts, relationName } from "./known.ts";
import type { DdlFacts } from "./known.ts";
import { keepDangers, ddlRules } from "./rules.ts";
import type { Danger } from "./rules.ts";

/** Lists the dangers of an `alter table` on a table with rows. */
export function findAlterTableDangers(
  { relation, cmds = [], objtype }: AlterTableStmt,
  known: DdlFacts,
): Danger[] {
  if (objtype !== "OBJECT_TABLE" || relation === undefined || !known.isOld(relation)) return [];
  return cmds.flatMap((command) =>
    "AlterTableCmd" in command ? findCommandDangers(relation, command.AlterTableCmd, known) : [],
  );
}

const rewritingCommands: Record<string, string> = {
  AT_SetTableSpace: "set tablespace",
  AT_SetUnLogged: "set unlogged",
  AT_SetLogged: "set logged",
  AT_SetAccessMethod: "set access method",
};

function findCommandDangers(relation: RangeVar, change: AlterTableCmd, known: DdlFacts): Danger[] {
  const { subtype, name = "", def } = change;
  const table = relationName(relation);
  const column = { object: `${table}.${name}` };
  const isOld = !known.isNewColumn(relation, name);
  const what = rewritingCommands[subtype!];
  const isNewColumn = subtype === "AT_AddColumn";
  const { remedy } = ddlRules["not-null-scans"];
  return keepDangers(
    ...(isNewColumn && def && "ColumnDef" in def ? findColumnDangers(table, def.ColumnDef, known) : []),
    ...listAddedConstraints(change).flatMap((one) => findConstraintDangers(table, one, isNewColumn)),
    subtype === "AT_SetNotNull" &&
      isOld &&
      !known.isCheckedNotNull(table, name) && {
        rule: "not-null-scans",
        ...column,
        remedy: remedy.replaceAll("TABLE", table).replaceAll("COLUMN", name),
      },
    subtype === "AT_AlterColumnType" && isOld && { rule: "type-rewrites-table", ...column },
    subtype === "AT_DropColumn" && isOld && { rule: "drops-data", ...column, what: "a column" },
    subtype === "AT_ValidateConstraint" &&
      known.addedConstraints.has(`${table}.${name}`) && {
        rule: "validates-at-once",
        object: table,
        what: name,
      },
    what !== undefined && { rule: "rewrites-table", object: table, what },
  );
}

const listConstraints = ({ constraints = [] }: ColumnDef): Constraint[] =>
  constraints.flatMap((one) => ("Constraint" in one ? [one.Constraint] : []));

/** Lists the constraints that a part of `alter table` adds, including a new column's. */
function listAddedConstraints({ subtype, def }: AlterTableCmd): Constraint[] {
  if (def === undefined) return [];
  if (subtype === "AT_AddConstraint" && "Constraint" in def) return [def.Constraint];
  return subtype === "AT_AddColumn" && "ColumnDef" in def ? listConstraints(def.ColumnDef) : [];
}

/** Lists the constraints that a statement adds to tables, as `table.constraint`. */
export function addedConstraints(node: Node): string[] {
  if (!("AlterTableStmt" in node)) return [];
  const { relation, cmds = [] } = node.AlterTableStmt;
  return cmds.flatMap((command) =>
    "AlterTableCmd" in command
      ? listAddedConstraints(command.AlterTableCmd).map(
          ({ conname }) => `${relationName(relation!)}.${conname}`,
        )
      : [],
  );
}

/** Returns why adding a column rewrites its table; undefined if it doesn't. */
function findRewriteReason(definition: ColumnDef, known: DdlFacts): string | undefined {
  const type = joinNameParts(definition.typeName?.names);
  if (/^(small|big)?serial\d?$/.test(type)) return "a serial column";
  if (known.isCheckedType(type)) return `of the domain ${type}, whose rule is checked in each row`;
  for (const { contype, generated_kind: kind, raw_expr: value } of listConstraints(definition)) {
    if (contype === "CONSTR_IDENTITY") return "an identity column";
    if (contype === "CONSTR_GENERATED" && kind === "s") return "a stored generated column";
    const volatile =
      contype === "CONSTR_DEFAULT"
        ? listCalledFunctions(value).find((name) => known.isVolatile(name))
        : undefined;
    if (volatile !== undefined) return `the default ${volatile}(), which is another for each row`;
  }
  return undefined;
}

/** Lists the functions that an expression calls. */
function listCalledFunctions(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  const own =
    "FuncCall" in node
      ? [joinNameParts((node.FuncCall as { funcname?: Node[] }).funcname).replace(/^.*\./, "")]
      : [];
  return [...own, ...Object.values(node).flatMap(listCalledFunctions)];
}

const fillingConstraints = new Set<Constraint["contype"]>([
  "CONSTR_DEFAULT",
  "CONSTR_GENERATED",
  "CONSTR_IDENTITY",
]);

function findColumnDangers(table: string, definition: ColumnDef, known: DdlFacts): Danger[] {
  const object = `${table}.${definition.colname}`;
  const what = findRewriteReason(definition, known);
  const kinds = listConstraints(definition).map(({ contype }) => contype);
  const isFilled =
    kinds.some((kind) => fillingConstraints.has(kind)) ||
    /serial/.test(joinNameParts(definition.typeName?.names));
  return keepDangers(
    what !== undefined && { rule: "column-rewrites-table", object, what },
    kinds.includes("CONSTR_NOTNULL") && !isFilled && { rule: "not-null-without-default", object },
  );
}

/** Constraints that scan all rows, and constraints that build an index. */
const scanningConstraints: Partial<Record<NonNullable<Constraint["contype"]>, string>> = {
  CONSTR_CHECK: "check",
  CONSTR_FOREIGN: "foreign key",
  CONSTR_NOTNULL: "not null",
};
const indexConstraints = new Set<Constraint["contype"]>([
  "CONSTR_UNIQUE",
  "CONSTR_PRIMARY",
  "CONSTR_EXCLUSION",
]);

function findConstraintDangers(
  table: string,
  { contype, conname = "", skip_validation: isUnchecked = false, indexname }: Constraint,
  isOfNewColumn: boolean,
): Danger[] {
  const title = scanningConstraints[contype!];
  // A new column without a value refers to nothing, and has its own rule about not null
  const scans = !isUnchecked && (!isOfNewColumn || contype === "CONSTR_CHECK");
  return keepDangers(
    title !== undefined &&
      scans && { rule: "constraint-scans", object: table, what: `${title} ${conname}`.trim() },
    indexConstraints.has(contype) &&
      indexname === undefined && { rule: "constraint-builds-index", object: table, what: conname },
  );
}
