import type { Severity } from "../finding.ts";

/** A rule about dangerous statements. */
export interface DdlRule {
  /** By default an error. */
  severity?: Severity;
  why: string;
  /** `TABLE` stands for the found object. */
  remedy: string;
}

/** All rules about statements that block, rewrite or lose something. */
export const ddlRules = {
  "column-rewrites-table": {
    why: "Every row is rewritten, while nobody else can read or write the table.",
    remedy:
      "add the column without a default; in the next migration give it the default, for new rows; fill the old ones in batches by api_meta.backfill, and then make it not null (docs/guides/changing-columns.md). A virtual generated column rewrites nothing.",
  },
  "not-null-without-default": {
    why: "The table has rows, which would have no value there: the migration fails wherever it isn't empty.",
    remedy:
      "give it a constant default, or add it nullable, fill it in batches, and then make it not null (docs/guides/changing-columns.md).",
  },
  "not-null-scans": {
    why: "All rows are looked at, while nobody else can read or write the table.",
    remedy:
      "alter table TABLE add constraint COLUMN_is_given not null COLUMN not valid; and in the next migration: alter table TABLE validate constraint COLUMN_is_given. That one looks at the rows while others read and write.",
  },
  "type-rewrites-table": {
    why: "Every row is rewritten and every index of the column is built again, while nobody else can read or write the table.",
    remedy:
      "add a column of the new type beside it, keep both in step by a trigger, fill it in batches, and let views read the new one (docs/guides/changing-columns.md). Waive it where Postgres rewrites nothing, as from varchar to text.",
  },
  "drops-data": {
    why: "What lies there is gone with the commit; processes of the release before, which still run meanwhile, may read it.",
    remedy:
      "take it out of the head's view first, and drop it when no served version and no function reads it, in a release of its own; then waive this with the reason.",
  },
  "constraint-scans": {
    why: "All rows are looked at, while nobody else can write the table, and nobody can read it either unless it is a foreign key.",
    remedy:
      "add the constraint not valid, which holds for new rows at once; and in the next migration: alter table TABLE validate constraint …. That one looks at the rows while others read and write.",
  },
  "constraint-builds-index": {
    why: "Its index is built while nobody else can read or write the table.",
    remedy:
      "create unique index concurrently in a migration of its own, which begins with --! no-transaction; and in the next: alter table TABLE add constraint … unique using index ….",
  },
  "validates-at-once": {
    why: "Adding the constraint has locked the table until the end of the transaction, so others wait while all rows are looked at.",
    remedy: "validate it in the next migration.",
  },
  "index-blocks-writes": {
    why: "Nobody can write the table while the index is built.",
    remedy: "create index concurrently …, in a migration of its own that begins with --! no-transaction.",
  },
  "concurrently-in-transaction": {
    why: "Postgres refuses it: what works concurrently commits several times.",
    remedy: "put it into a migration of its own, whose first line is --! no-transaction.",
  },
  "concurrently-if-not-exists": {
    why: "When it fails it leaves an invalid index of that name, and the next run takes it for the index.",
    remedy: "leave out if not exists. After a failure: drop index concurrently, and migrate again.",
  },
  "no-transaction-with-others": {
    why: "Without a transaction, what ran before the statement that fails stays, and the next run stumbles over it.",
    remedy: "leave the statement alone in its migration.",
  },
  "rewrites-table": {
    why: "The whole table is rewritten, while nobody else can read or write it.",
    remedy:
      "do it outside of migrations, at a time when the service may stand still; vacuum without full is mostly enough.",
  },
  "refresh-blocks-reads": {
    why: "Nobody can read the materialized view until it is full again.",
    remedy: "refresh materialized view concurrently …; it needs a unique index.",
  },
  "locks-table": {
    why: "Others wait for the table until the migration has ended.",
    remedy: "leave it out: each statement takes the lock that it needs.",
  },
  "changes-all-rows": {
    severity: "warning",
    why: "Every row stays locked until the migration ends, is written to the log of events, and leaves a dead one behind.",
    remedy:
      "select api_meta.backfill(…) changes a batch at a time by background work (docs/guides/changing-columns.md); waive it for a table that stays small.",
  },
  renames: {
    severity: "warning",
    why: "Views and foreign keys follow, but functions name tables and columns in their texts, and fail from then on, calls that are under way included.",
    remedy:
      "keep the name: the API's names are those of its views. Else a column of the new name beside the old one, or a view that keeps the table's name (docs/guides/changing-columns.md).",
  },
  "grants-reads": {
    why: "What service_api may read follows from the views of the API, and each migration ends with taking back what is more.",
    remedy: "leave it out. A view of the API with @requiresScopes opens what it reads.",
  },
} as const satisfies Record<string, DdlRule>;

/** Something dangerous in a statement. */
export interface Danger {
  rule: keyof typeof ddlRules;
  /** The table or other object concerned. */
  object: string;
  what?: string;
  /** Replaces the rule's remedy. */
  remedy?: string;
}

/** Drops the entries whose condition wasn't met. */
export const keepDangers = (...all: (Danger | false | undefined)[]): Danger[] =>
  all.filter((one) => one !== false && one !== undefined);
