import type { PgCodec, PgCodecAttribute } from "postgraphile/@dataplan/pg";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { globalIdPrefix } from "../graphql/global-id.ts";

/** The most rows that one operation aggregates. */
export const maxAggregated = 100_000;
/** The most groups in a response. */
export const maxGroups = 1_000;

/** A column that rows are grouped by. */
export interface Group {
  column: string;
  attribute: PgCodecAttribute;
  /** Returns the part of the column's value that groups have in common, such as its day. */
  wrap: (column: SQL) => SQL;
}

/** Groups by the name of their enum value. */
export type Groups = ReadonlyMap<string, Group>;

/** A field's aggregate function of a column. */
export interface Aggregate {
  column: string;
  attribute: PgCodecAttribute;
  wrap: (column: SQL) => SQL;
  /** The codec of the result. */
  codec: PgCodec;
}

/** Returns SQL of a column's value, or of the expression that computes it. */
export const buildColumnValue = (rows: SQL, column: string, { expression: made }: PgCodecAttribute): SQL =>
  made ? made(rows) : sql`${rows}.${sql.identifier(column)}`;

/** Returns SQL of the text of a group's value, as its field shows it. */
export function buildGroupText({ attribute, wrap }: Group, column: SQL): SQL {
  const codec = attribute.codec;
  const value = wrap(column);
  const text = codec.castFromPg ? codec.castFromPg(value, false) : sql`${value}::text`;
  const { globalIdOf } = codec.extensions ?? {};
  return globalIdOf === undefined ? text : sql`${sql.literal(globalIdPrefix(globalIdOf))}||${text}`;
}

/** Returns SQL that is true, and fails if too many rows or groups were aggregated. */
export const buildSizeCheck = (entries: SQL, groups: SQL): SQL =>
  sql`erp.require_countable(${entries},${groups})`;
