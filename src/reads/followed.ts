import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { Key } from "./keys.ts";
import { orderOf, rowOf } from "./keys.ts";

/**
 * Followed lists: clients keep `endCursor`, and continue from there some time later.
 *
 * Ids are given before the commit, so a row can become visible in front of rows that were already read. Cursors of such
 * lists remember which transactions were open (src/graphql/cursor.ts), and the page after a cursor returns their rows
 * too. Nothing is locked and no one waits. docs/internals/decisions/ (followed lists) proves that no row is missed.
 */
export interface Followed {
  /** The column with the number of the transaction that inserted a row. */
  transaction: string;
  /** The view. */
  from: SQL;
}

/** The SQL expression of the open transactions, as cursors contain them. */
export const openTransactions = sql`(select erp.open_transactions())`;

/** Whether a statement asks for the open transactions, which only the primary knows exactly. */
export const readsOpenTransactions = (text: string): boolean => text.includes("erp.open_transactions");

/** SQL expressions of a cursor's stage. */
export interface StageSql {
  /** The value of the key, or the row of its values. */
  key: SQL;
  /** A multirange; null where nothing was open. */
  open: SQL | null;
}

/** The rows of a list in a statement. */
export interface NamedRows {
  alias: SQL;
  key: Key;
  followed: Followed | undefined;
}

type Stages = readonly [StageSql, ...StageSql[]];
interface Late {
  stage: StageSql & { open: SQL };
  /** Rows up to this one were returned, unless the next stage says otherwise; null after the last. */
  floor: SQL | null;
}

const lateOf = (stages: Stages): Late[] =>
  stages.flatMap(({ key, open }, index) =>
    open ? [{ stage: { key, open }, floor: stages[index + 1]?.key ?? null }] : [],
  );

const column = (alias: SQL, name: string): SQL => sql`${alias}.${sql.identifier(name)}`;
const keyOf = (alias: SQL, key: Key): SQL => rowOf(orderOf(key, alias));

/** Whether a row was invisible when the pages up to the cursor were read. */
function isLate({ alias, key, followed }: NamedRows, late: readonly Late[]): SQL {
  const transaction = column(alias, followed!.transaction);
  const conditions = late.map(({ stage, floor }) =>
    floor === null
      ? sql`${transaction} <@ ${stage.open}`
      : sql`(${transaction} <@ ${stage.open} and ${keyOf(alias, key)} > ${floor})`,
  );
  return sql.join(conditions, " or ");
}

/** The most consecutive transactions that are looked up one by one. */
const maxLookUps = sql.literal(1000);

/**
 * The least key of the late rows, or null: where to begin to read. It takes one look at the index for each transaction.
 * The comparisons are ranges, because Postgres might otherwise choose the index on the key alone.
 */
function leastLate({ key, followed }: NamedRows, late: readonly Late[]): SQL {
  const { transaction, from } = followed!;
  const [row, run, number] = [sql.identifier("r"), sql.identifier("run"), sql.identifier("n")];
  const [x, t] = [keyOf(row, key), column(row, transaction)];
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

/** The condition that a row was not returned yet: it comes after the cursor, or came late. */
export function notYetGiven(rows: NamedRows, stages: Stages): SQL {
  const key = keyOf(rows.alias, rows.key);
  const [{ key: last }] = stages;
  const late = lateOf(stages);
  if (late.length === 0) return sql`${key} > ${last}`;
  return sql`${key} >= least(${last}, ${leastLate(rows, late)}) and (${key} > ${last} or ${isLate(rows, late)})`;
}

/** The condition that a row was returned: it comes before the cursor, or is that of the cursor. */
export function given(rows: NamedRows, stages: Stages): SQL {
  const [{ key }] = stages;
  const before = sql`${keyOf(rows.alias, rows.key)} <= ${key}`;
  const late = lateOf(stages);
  return late.length === 0 ? before : sql`${before} and (${isLate(rows, late)}) is not true`;
}
