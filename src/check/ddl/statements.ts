import type { Node, RangeVar } from "libpg-query";
import { findAlterTableDangers } from "./alter-table.ts";
import { joinNameParts, relationName, listRelations } from "./known.ts";
import type { DdlFacts } from "./known.ts";
import { keepDangers } from "./rules.ts";
import type { Danger } from "./rules.ts";

type Kinds<N> = N extends unknown ? keyof N : never;
type Find<Kind extends Kinds<Node>> = (
  statement: Extract<Node, Record<Kind, unknown>>[Kind],
  known: DdlFacts,
) => Danger[];

const hasOption = (options: readonly Node[], name: string): boolean =>
  options.some((one) => "DefElem" in one && one.DefElem.defname === name);

const nameOf = (relation: RangeVar | undefined): string => (relation ? relationName(relation) : "");

/** Finds a statement that changes all rows because it has no condition. */
const findChangeOfAllRows =
  (what: string) =>
  ({ relation, ...clauses }: { relation?: RangeVar; whereClause?: Node }, known: DdlFacts): Danger[] =>
    keepDangers(
      !("whereClause" in clauses || "usingClause" in clauses) &&
        known.isOld(relation) && { rule: "changes-all-rows", object: nameOf(relation), what },
    );

/** Functions that list the dangers of a statement, by its kind. */
const finders: { [Kind in Kinds<Node>]?: Find<Kind> } = {
  AlterTableStmt: findAlterTableDangers,

  IndexStmt: ({ relation, concurrent, if_not_exists: ifNotExists, idxname: what = "" }, known) => {
    const { isInTransaction, statementCount } = known;
    const object = nameOf(relation);
    return keepDangers(
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
    keepDangers(
      !hasOption(params, "concurrently") && {
        rule: "index-blocks-writes",
        object: nameOf(relation),
        remedy: "reindex (concurrently) …",
      },
    ),

  DropStmt: ({ removeType, objects = [], concurrent }, known) => {
    const tables = objects
      .map((one) => ("List" in one ? joinNameParts(one.List.items) : ""))
      .filter((name) => {
        const [relname, schemaname] = name.split(".").toReversed();
        return removeType === "OBJECT_TABLE" && known.isOld({ relname, schemaname });
      });
    return keepDangers(
      ...tables.map((object) => ({ rule: "drops-data", object, what: "a table" }) as const),
      concurrent && known.isInTransaction && { rule: "concurrently-in-transaction", object: "" },
    );
  },

  TruncateStmt: ({ relations }, known) =>
    listRelations(relations)
      .filter(known.isOld)
      .map((table) => ({ rule: "drops-data", object: relationName(table), what: "all rows" })),

  ClusterStmt: ({ relation }) => [{ rule: "rewrites-table", object: nameOf(relation), what: "cluster" }],

  VacuumStmt: ({ options = [], rels: [first] = [] }) => {
    const relation = first && "VacuumRelation" in first ? first.VacuumRelation.relation : undefined;
    return keepDangers(
      hasOption(options, "full") && { rule: "rewrites-table", object: nameOf(relation), what: "vacuum full" },
    );
  },

  RefreshMatViewStmt: ({ relation, concurrent, skipData }) =>
    keepDangers(!concurrent && !skipData && { rule: "refresh-blocks-reads", object: nameOf(relation) }),

  LockStmt: ({ relations }, known) =>
    listRelations(relations)
      .filter(known.isOld)
      .map((table) => ({ rule: "locks-table", object: relationName(table) })),

  UpdateStmt: findChangeOfAllRows("update"),
  DeleteStmt: findChangeOfAllRows("delete"),

  AlterObjectSchemaStmt: ({ relation, newschema }, known) =>
    keepDangers(
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
    return listRelations(objects).map((table) => ({ rule: "grants-reads", object: relationName(table) }));
  },
};

/** Lists the dangers of a statement. */
export const findDangers = (node: Node, known: DdlFacts): Danger[] =>
  Object.entries(node).flatMap(
    ([kind, statement]) => finders[kind as Kinds<Node>]?.(statement as never, known) ?? [],
  );
