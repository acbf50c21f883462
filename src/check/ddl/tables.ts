import type { RangeVar } from "libpg-query";
import type { DdlRule } from "./rule.ts";
import { changesOf, relationName } from "./rule.ts";

const rewriting: Record<string, string> = {
  AT_SetTableSpace: "set tablespace",
  AT_SetUnLogged: "set unlogged",
  AT_SetLogged: "set logged",
  AT_SetAccessMethod: "set access method",
};

const rewritesTable: DdlRule = {
  name: "rewrites-table",
  why: "The whole table is written anew, while nobody else can read or write it.",
  wayOut:
    "do it outside of migrations, at a time when the service may stand still; vacuum without full is mostly enough.",
  find(node, known) {
    if ("ClusterStmt" in node) return [{ object: relationName(node.ClusterStmt.relation!), what: "cluster" }];
    if ("VacuumStmt" in node) {
      const { options = [], rels = [] } = node.VacuumStmt;
      if (!options.some((one) => "DefElem" in one && one.DefElem.defname === "full")) return [];
      const [first] = rels;
      const relation = first && "VacuumRelation" in first ? first.VacuumRelation.relation : undefined;
      return [{ object: relation ? relationName(relation) : "", what: "vacuum full" }];
    }
    return changesOf(node, known).flatMap(({ table, change }) => {
      const what = rewriting[change.subtype ?? ""];
      return what === undefined ? [] : [{ object: table, what }];
    });
  },
};

const refresh: DdlRule = {
  name: "refresh-blocks-reads",
  why: "Nobody can read the materialized view until it is full again.",
  wayOut: "refresh materialized view concurrently …; it needs a unique index.",
  find: (node) =>
    "RefreshMatViewStmt" in node && !node.RefreshMatViewStmt.concurrent && !node.RefreshMatViewStmt.skipData
      ? [{ object: relationName(node.RefreshMatViewStmt.relation!), what: "" }]
      : [],
};

const locks: DdlRule = {
  name: "locks-table",
  why: "Others wait for the table until the migration has ended.",
  wayOut: "leave it out: each statement takes the lock that it needs.",
  find: (node, known) =>
    "LockStmt" in node
      ? (node.LockStmt.relations ?? []).flatMap((one) =>
          "RangeVar" in one && known.isOld(one.RangeVar)
            ? [{ object: relationName(one.RangeVar), what: "" }]
            : [],
        )
      : [],
};

const changesAllRows: DdlRule = {
  name: "changes-all-rows",
  severity: "warning",
  why: "Every row stays locked until the migration ends, is written to the log of events, and leaves a dead one behind.",
  wayOut:
    "select api_meta.backfill(…) changes a batch at a time by background work (docs/guides/evolving.md); waive it for a table that stays small.",
  find(node, known) {
    const statement =
      "UpdateStmt" in node ? node.UpdateStmt : "DeleteStmt" in node ? node.DeleteStmt : undefined;
    if (statement === undefined || statement.whereClause !== undefined) return [];
    if ("usingClause" in statement || !known.isOld(statement.relation)) return [];
    return [{ object: relationName(statement.relation!), what: "UpdateStmt" in node ? "update" : "delete" }];
  },
};

const renames: DdlRule = {
  name: "renames",
  severity: "warning",
  why: "Views and foreign keys follow, but functions name tables and columns in their texts, and fail from then on, calls that are under way included.",
  wayOut:
    "keep the name: the API's names are those of its views. Else a column of the new name beside the old one, or a view that keeps the table's name (docs/guides/evolving.md).",
  find(node, known) {
    if ("AlterObjectSchemaStmt" in node) {
      const { relation, newschema } = node.AlterObjectSchemaStmt;
      return known.isOld(relation)
        ? [{ object: relationName(relation!), what: `moves to ${newschema}` }]
        : [];
    }
    if (!("RenameStmt" in node)) return [];
    const { renameType, relationType, relation, subname, newname } = node.RenameStmt;
    const isColumn = renameType === "OBJECT_COLUMN" && relationType === "OBJECT_TABLE";
    if (!(isColumn || renameType === "OBJECT_TABLE") || !known.isOld(relation)) return [];
    if (isColumn && known.isNewColumn(relation, subname!)) return [];
    const object = relationName(relation as RangeVar);
    return [{ object: isColumn ? `${object}.${subname}` : object, what: `becomes ${newname}` }];
  },
};

const grantsReads: DdlRule = {
  name: "grants-reads",
  why: "What service_api may read follows from the views of the API, and each migration ends with taking back what is more.",
  wayOut: "leave it out. A view of the API with @requiresScopes opens what it reads.",
  find(node) {
    if (!("GrantStmt" in node) || node.GrantStmt.objtype !== "OBJECT_TABLE") return [];
    const { is_grant: isGrant, grantees = [], privileges = [], objects = [] } = node.GrantStmt;
    const isToApi = grantees.some((one) => "RoleSpec" in one && one.RoleSpec.rolename === "service_api");
    // Without a list it is all of them
    const isRead = privileges.every((one) => "AccessPriv" in one && one.AccessPriv.priv_name === "select");
    if (isGrant !== true || !isToApi || !isRead) return [];
    return objects.flatMap((one) =>
      "RangeVar" in one ? [{ object: relationName(one.RangeVar), what: "" }] : [],
    );
  },
};

const blocksWrites: DdlRule = {
  name: "index-blocks-writes",
  why: "Nobody can write the table while the index is built.",
  wayOut: "create index concurrently …, in a migration of its own that begins with --! no-transaction.",
  find(node, known) {
    if ("ReindexStmt" in node) {
      const { relation, params = [] } = node.ReindexStmt;
      const isConcurrent = params.some((one) => "DefElem" in one && one.DefElem.defname === "concurrently");
      if (isConcurrent) return [];
      return [
        { object: relation ? relationName(relation) : "", what: "", wayOut: "reindex (concurrently) …" },
      ];
    }
    if (!("IndexStmt" in node) || node.IndexStmt.concurrent || !known.isOld(node.IndexStmt.relation))
      return [];
    return [{ object: relationName(node.IndexStmt.relation!), what: node.IndexStmt.idxname ?? "" }];
  },
};

const inTransaction: DdlRule = {
  name: "concurrently-in-transaction",
  why: "Postgres refuses it: what works concurrently commits several times.",
  wayOut: "put it into a migration of its own, whose first line is --! no-transaction.",
  find(node, known) {
    const isIndex = "IndexStmt" in node && node.IndexStmt.concurrent;
    const isDrop = "DropStmt" in node && node.DropStmt.concurrent;
    if (!known.isInTransaction || !(isIndex || isDrop)) return [];
    return [{ object: isIndex ? relationName(node.IndexStmt.relation!) : "", what: "" }];
  },
};

const ifNotExists: DdlRule = {
  name: "concurrently-if-not-exists",
  why: "When it fails it leaves an invalid index of that name, and the next run takes it for the index.",
  wayOut: "leave out if not exists. After a failure: drop index concurrently, and migrate again.",
  find: (node) =>
    "IndexStmt" in node && node.IndexStmt.concurrent && node.IndexStmt.if_not_exists
      ? [{ object: relationName(node.IndexStmt.relation!), what: node.IndexStmt.idxname ?? "" }]
      : [],
};

const withOthers: DdlRule = {
  name: "no-transaction-with-others",
  why: "Without a transaction, what ran before the statement that fails stays, and the next run stumbles over it.",
  wayOut: "leave the statement alone in its migration.",
  find: (node, known) =>
    !known.isInTransaction && known.statementCount > 1 && "IndexStmt" in node
      ? [
          {
            object: relationName(node.IndexStmt.relation!),
            what: `one of ${known.statementCount} statements`,
          },
        ]
      : [],
};

/** Rules about whole tables, their rows and indexes. */
export const tableRules: readonly DdlRule[] = [
  blocksWrites,
  inTransaction,
  ifNotExists,
  withOthers,
  rewritesTable,
  refresh,
  locks,
  changesAllRows,
  renames,
  grantsReads,
];
