import type { DdlRule } from "./rule.ts";
import { relationName } from "./rule.ts";

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

/** Rules about indexes. */
export const indexRules: readonly DdlRule[] = [blocksWrites, inTransaction, ifNotExists, withOthers];
