import type { Node, RangeVar } from "libpg-query";
import { dangersOfAlterTable } from "./alter-table.ts";
import { dotted, relationName, relationsIn } from "./known.ts";
import type { Known } from "./known.ts";
import { dangers } from "./rules.ts";
import type { Danger } from "./rules.ts";

type Kinds<N> = N extends unknown ? keyof N : never;
type Find<Kind extends Kinds<Node>> = (
  statement: Extract<Node, Record<Kind, unknown>>[Kind],
  known: Known,
) => Danger[];

const isGiven = (options: readonly Node[], name: string): boolean =>
  options.some((one) => "DefElem" in one && one.DefElem.defname === name);

const nameOf = (relation: RangeVar | undefined): string => (relation ? relationName(relation) : "");

/** Finds a statement that changes all rows because it has no condition. */
const allRows =
  (what: string) =>
  ({ relation, ...clauses }: { relation?: RangeVar; whereClause?: Node }, known: Known): Danger[] =>
    dangers(
      !("whereClause" in clauses || "usingClause" in clauses) &&
        known.isOld(relation) && { rule: "changes-all-rows", object: nameOf(relation), what },
    );

/** Functions that list the dangers of a statement, by its kind. */
const dangersBy: { [Kind in Kinds<Node>]?: Find<Kind> } = {
  AlterTableStmt: dangersOfAlterTable,

  IndexStmt: ({ relation, concurrent, if_not_exists: ifNotExists, idxname: what = "" }, known) => {
    const { isInTransaction, statementCount } = known;
    const object = nameOf(relation);
    return dangers(
      !concurrent && known.isOld(relation) && { rule: "index-blocks-writes", object, what },
      concurrent && isInTransaction && { rule: "concurrently-in-transaction", object },
      concurrent && ifNotExists && { rule: "concurrently-if-not-exists", object, what },
      !isInTransaction &&
        statementCount > 1 && {
          rule: "no-transaction-with-others",
          object,
          what: `one of ${statementCount} statements`,
        },
    );
  },

  ReindexStmt: ({ relation, params = [] }) =>
    dangers(
      !isGiven(params, "concurrently") && {
        rule: "index-blocks-writes",
        object: nameOf(relation),
        remedy: "reindex (concurrently) …",
      },
    ),

  DropStmt: ({ removeType, objects = [], concurrent }, known) => {
    const tables = objects
      .map((one) => ("List" in one ? dotted(one.List.items) : ""))
      .filter((name) => {
        const [relname, schemaname] = name.split(".").toReversed();
        return removeType === "OBJECT_TABLE" && known.isOld({ relname, schemaname });
      });
    return dangers(
      ...tables.map((object) => ({ rule: "drops-data", object, what: "a table" }) as const),
      concurrent && known.isInTransaction && { rule: "concurrently-in-transaction", object: "" },
    );
  },

  TruncateStmt: ({ relations }, known) =>
    relationsIn(relations)
      .filter(known.isOld)
      .map((table) => ({ rule: "drops-data", object: relationName(table), what: "all rows" })),

  ClusterStmt: ({ relation }) => [{ rule: "rewrites-table", object: nameOf(relation), what: "cluster" }],

  VacuumStmt: ({ options = [], rels: [first] = [] }) => {
    const relation = first && "VacuumRelation" in first ? first.VacuumRelation.relation : undefined;
    return dangers(
      isGiven(options, "full") && { rule: "rewrites-table", object: nameOf(relation), what: "vacuum full" },
    );
  },

  RefreshMatViewStmt: ({ relation, concurrent, skipData }) =>
    dangers(!concurrent && !skipData && { rule: "refresh-blocks-reads", object: nameOf(relation) }),

  LockStmt: ({ relations }, known) =>
    relationsIn(relations)
      .filter(known.isOld)
      .map((table) => ({ rule: "locks-table", object: relationName(table) })),

  UpdateStmt: allRows("update"),
  DeleteStmt: allRows("delete"),

  AlterObjectSchemaStmt: ({ relation, newschema }, known) =>
    dangers(
      known.isOld(relation) && { rule: "renames", object: nameOf(relation), what: `moves to ${newschema}` },
    ),

  RenameStmt: ({ renameType, relationType, relation, subname, newname }, known) => {
    const isColumn = renameType === "OBJECT_COLUMN" && relationType === "OBJECT_TABLE";
    if (!(isColumn || renameType === "OBJECT_TABLE") || !known.isOld(relation)) return [];
    if (isColumn && known.isNewColumn(relation, subname!)) return [];
    const object = nameOf(relation);
    return [
      { rule: "renames", object: isColumn ? `${object}.${subname}` : object, what: `becomes ${newname}` },
    ];
  },

  GrantStmt: ({ objtype, is_grant: isGrant, grantees = [], privileges = [], objects }) => {
    const isToApi = grantees.some((one) => "RoleSpec" in one && one.RoleSpec.rolename === "service_api");
    // Without a list, it grants all privileges
    const isRead = privileges.every((one) => "AccessPriv" in one && one.AccessPriv.priv_name === "select");
    if (objtype !== "OBJECT_TABLE" || isGrant !== true || !isToApi || !isRead) return [];
    return relationsIn(objects).map((table) => ({ rule: "grants-reads", object: relationName(table) }));
  },
};

/** Lists the dangers of a statement. */
export const dangersOf = (node: Node, known: Known): Danger[] =>
  Object.entries(node).flatMap(
    ([kind, statement]) => dangersBy[kind as Kinds<Node>]?.(statement as never, known) ?? [],
  );
