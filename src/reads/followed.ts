import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { Key } from "./keys.ts";
import { buildKeyColumns, buildRowValue } from "./keys.ts";

/**
 * A list that clients can follow: they keep `endCursor`, and continue from there later.
 *
 * Ids are assigned before the commit, so a row can become visible before rows that were already read. Cursors of such
 * lists store which transactions were open (src/graphql/cursor.ts), and the page after a cursor also returns their
 * rows. Nothing is locked and no one waits. docs/internals/decisions/ (followed lists) proves that no row is missed.
 */
export interface FollowedList {
  /** The column with the number of the transaction that inserted a row. */
  transaction: string;
  /** The view. */
  from: SQL;
}

/** SQL of the open transactions, in the form that cursors contain. */
export const openTransactions = sql`(select erp.open_transactions())`;

/** Whether a statement reads the open transactions, which only the primary knows exactly. */
export const readsOpenTransactions = (text: string): boolean => text.includes("erp.open_transactions");

/** SQL of a cursor's stage. */
export interface StageSql {
  /** The value of the key, or the row of its values. */
  key: SQL;
  /** A multirange; null if no transaction was open. */
  open: SQL | null;
}

/** The rows of a list in a statement. */
export interface NamedRows {
  alias: SQL;
  key: Key;
  followed: FollowedList | undefined;
}

type Stages = readonly [StageSql, ...StageSql[]];
interface LateStage {
  stage: StageSql & { open: SQL };
  /** Rows up to this one were returned, unless the next stage says otherwise; null in the last stage. */
  floor: SQL | null;
}

const listLateStages = (stages: Stages): LateStage[] =>
  stages.flatMap(({ key, open }, index) =>
    open ? [{ stage: { key, open }, floor: stages[index + 1]?.key ?? null }] : [],
  );

const column = (alias: SQL, name: string): SQL => sql`${alias}.${sql.identifier(name)}`;
const buildKey = (alias: SQL, key: Key): SQL => buildRowValue(buildKeyColumns(key, alias));

/** Returns SQL of whether a row was still invisible when the pages up to the cursor were read. */
function buildLateCondition({ alias, key, followed }: NamedRows, late: readonly LateStage[]): SQL {
  const transaction = column(alias, followed!.transaction);
  const conditions = late.map(({ stage, floor }) =>
    floor === null
      ? sql`${transaction} <@ ${stage.open}`
      : sql`(${transaction} <@ ${stage.open} and ${buildKey(alias, key)} > ${floor})`,
  );
  return sql.join(conditions, " or ");
}

/** The most consecutive transactions that are looked up one by one. */
const maxLookUps = sql.literal(1000);

/**
 * Returns SQL of the least key of the late rows, or null: reading begins there. It takes one index lookup per transaction.
 * The comparisons are ranges, because Postgres might otherwise choose the index on the key alone.
 */
function buildLeastLateKey({ key, followed }: NamedRows, late: readonly LateStage[]): SQL {
  const { transaction, from } = followed!;
  const [row, run, number] = [sql.identifier("r"), sql.identifier("run"), sql.identifier("n")];
  const [x, t] = [buildKey(row, key), column(row, transaction)];
  const keys = late.flatMap(({ stage, floor }) => {
    const begun = floor === null ? sql.blank : sql` and ${x} > ${floor}`;
    return [
      sql`select f.k from unnest(${stage.open}) ${run}
        cross join lateral generate_series(lower(${run}), least(upper(${run}), lower(${run}) + ${maxLookUps}) - 1) ${number}
        cross join lateral (select ${x} as k from ${from} ${row}
          where ${t} >= ${number} and ${t} <= ${number}${begun} order by ${t}, ${x} limit 1) f`,
      sql`select f.k from unnest(${stage.open}) ${run}
        cross join lateral (select ${x} as k from ${from} ${row}
          where ${t} >= lower(${run}) + ${maxLookUps} and ${t} < upper(${run})${begun} offset 0) f
        where upper(${run}) > lower(${run}) + ${maxLookUps}`,
    ];
  });
  return sql`(select l.k from (${sql.join(keys, " union all ")}) l order by l.k limit 1)`;
}

/** Returns the condition that a row was not returned yet: it comes after the cursor, or became visible late. */
export function buildUnreturnedCondition(rows: NamedRows, stages: Stages): SQL {
  const key = buildKey(rows.alias, rows.key);
  const [{ key: last }] = stages;
  const late = listLateStages(stages);
  if (late.length === 0) return sql`${key} > ${last}`;
  return sql`${key} >= least(${last}, ${buildLeastLateKey(rows, late)}) and (${key} > ${last} or ${buildLateCondition(rows, late)})`;
}

/** Returns the condition that a row was returned: it comes before the cursor, or is the cursor's row. */
export function buildReturnedCondition(rows: NamedRows, stages: Stages): SQL {
  const [{ key }] = stages;
  const before = sql`${buildKey(rows.alias, rows.key)} <= ${key}`;
  const late = listLateStages(stages);
  return late.length === 0 ? before : sql`${before} and (${buildLateCondition(rows, late)}) is not true`;
}
