import type { ColumnDef, Constraint, Node } from "libpg-query";
import type { DdlRule, Known } from "./rule.ts";
import { changesOf, dotted } from "./rule.ts";

const definitionOf = (node: Node | undefined): ColumnDef | null =>
  node !== undefined && "ColumnDef" in node ? node.ColumnDef : null;

const constraintsOf = ({ constraints = [] }: ColumnDef): Constraint[] =>
  constraints.flatMap((one) => ("Constraint" in one ? [one.Constraint] : []));

/** Functions that an expression calls. */
function calledIn(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  const own =
    "FuncCall" in node
      ? [dotted((node.FuncCall as { funcname?: Node[] }).funcname).replace(/^.*\./, "")]
      : [];
  return [...own, ...Object.values(node).flatMap(calledIn)];
}

/** Why a new column has every row written anew; null when it doesn't. */
function rewriteOf(definition: ColumnDef, known: Known): string | null {
  const type = dotted(definition.typeName?.names);
  if (/^(small|big)?serial\d?$/.test(type)) return "a serial column";
  if (known.isCheckedType(type)) return `of the domain ${type}, whose rule is checked in each row`;
  for (const { contype, generated_kind: kind, raw_expr: value } of constraintsOf(definition)) {
    if (contype === "CONSTR_IDENTITY") return "an identity column";
    if (contype === "CONSTR_GENERATED" && kind === "s") return "a stored generated column";
    const volatile =
      contype === "CONSTR_DEFAULT" ? calledIn(value).find((name) => known.isVolatile(name)) : undefined;
    if (volatile !== undefined) return `the default ${volatile}(), which is another for each row`;
  }
  return null;
}

const addColumn: DdlRule = {
  name: "column-rewrites-table",
  why: "Every row is written anew, while nobody else can read or write the table.",
  wayOut:
    "add the column without a default; in the next migration give it the default, for new rows; fill the old ones in batches by api_meta.backfill, and then make it not null (docs/guides/evolving.md). A virtual generated column rewrites nothing.",
  find: (node, known) =>
    changesOf(node, known).flatMap(({ table, change }) => {
      const definition = change.subtype === "AT_AddColumn" ? definitionOf(change.def) : null;
      const reason = definition && rewriteOf(definition, known);
      return reason ? [{ object: `${table}.${definition.colname}`, what: reason }] : [];
    }),
};

const notNullWithoutDefault: DdlRule = {
  name: "not-null-without-default",
  why: "The table has rows, which would have no value there: the migration fails wherever it isn't empty.",
  wayOut:
    "give it a constant default, or add it nullable, fill it in batches, and then make it not null (docs/guides/evolving.md).",
  find: (node, known) =>
    changesOf(node, known).flatMap(({ table, change }) => {
      const definition = change.subtype === "AT_AddColumn" ? definitionOf(change.def) : null;
      if (definition === null) return [];
      const kinds = constraintsOf(definition).map(({ contype }) => contype);
      const isFilled = ["CONSTR_DEFAULT", "CONSTR_GENERATED", "CONSTR_IDENTITY"].some((kind) =>
        kinds.includes(kind as (typeof kinds)[number]),
      );
      if (!kinds.includes("CONSTR_NOTNULL") || isFilled || /serial/.test(dotted(definition.typeName?.names)))
        return [];
      return [{ object: `${table}.${definition.colname}`, what: "" }];
    }),
};

const setNotNull: DdlRule = {
  name: "not-null-scans",
  why: "All rows are looked at, while nobody else can read or write the table.",
  wayOut:
    "alter table TABLE add constraint COLUMN_is_given not null COLUMN not valid; and in the next migration: alter table TABLE validate constraint COLUMN_is_given. That one looks at the rows while others read and write.",
  find: (node, known) =>
    changesOf(node, known).flatMap(({ table, relation, change }) => {
      const column = change.name ?? "";
      const isHarmless = known.isNewColumn(relation, column) || known.isCheckedNotNull(table, column);
      if (change.subtype !== "AT_SetNotNull" || isHarmless) return [];
      return [
        {
          object: `${table}.${column}`,
          what: "",
          wayOut: setNotNull.wayOut.replaceAll("TABLE", table).replaceAll("COLUMN", column),
        },
      ];
    }),
};

const changeType: DdlRule = {
  name: "type-rewrites-table",
  why: "Every row is written anew and every index of the column is built again, while nobody else can read or write the table.",
  wayOut:
    "add a column of the new type beside it, keep both in step by a trigger, fill it in batches, and let views read the new one (docs/guides/evolving.md). Waive it where Postgres rewrites nothing, as from varchar to text.",
  find: (node, known) =>
    changesOf(node, known).flatMap(({ table, relation, change }) => {
      if (change.subtype !== "AT_AlterColumnType" || known.isNewColumn(relation, change.name!)) return [];
      return [{ object: `${table}.${change.name}`, what: "" }];
    }),
};

const dropColumn: DdlRule = {
  name: "drops-data",
  why: "What lies there is gone with the commit; processes of the release before, which still run meanwhile, may read it.",
  wayOut:
    "take it out of the head's view first, and drop it when no served version and no function reads it, in a release of its own; then waive this with the reason.",
  find(node, known) {
    const columns = changesOf(node, known)
      .filter(
        ({ change, relation }) =>
          change.subtype === "AT_DropColumn" && !known.isNewColumn(relation, change.name!),
      )
      .map(({ table, change }) => ({ object: `${table}.${change.name}`, what: "a column" }));
    if ("TruncateStmt" in node) {
      const tables = (node.TruncateStmt.relations ?? []).flatMap((one) =>
        "RangeVar" in one ? [one.RangeVar] : [],
      );
      return tables
        .filter((table) => known.isOld(table))
        .map((table) => ({ object: rangeName(table), what: "all rows" }));
    }
    if (!("DropStmt" in node) || node.DropStmt.removeType !== "OBJECT_TABLE") return columns;
    return (node.DropStmt.objects ?? []).flatMap((one) => {
      const words = "List" in one ? dotted(one.List.items) : "";
      const [relname, schemaname] = words.split(".").toReversed();
      return known.isOld({ relname, schemaname }) ? [{ object: words, what: "a table" }] : [];
    });
  },
};

const rangeName = ({ schemaname, relname }: { schemaname?: string; relname?: string }) =>
  [schemaname, relname].filter(Boolean).join(".");

/** Rules about columns, and what lies in them. */
export const columnRules: readonly DdlRule[] = [
  addColumn,
  notNullWithoutDefault,
  setNotNull,
  changeType,
  dropColumn,
];
