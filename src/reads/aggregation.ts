import type { PgCodec, PgCodecAttribute } from "postgraphile/@dataplan/pg";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { globalIdPrefix } from "../graphql/global-id.ts";

/** The most rows that are aggregated. */
export const maxAggregated = 100_000;
/** The most groups of an answer. */
export const maxGroups = 1_000;

/** Something that rows are grouped by. */
export interface Group {
  column: string;
  attribute: PgCodecAttribute;
  /** What is compared of the column's value, such as its day. */
  wrap: (column: SQL) => SQL;
}

/** By the name of their value in the enum. */
export type Groups = ReadonlyMap<string, Group>;

/** What a field shows of all rows. */
export interface Aggregate {
  column: string;
  attribute: PgCodecAttribute;
  wrap: (column: SQL) => SQL;
  /** Of the result. */
  codec: PgCodec;
}

/** The value of a column, or what it is worked out by. */
export const valueOf = (rows: SQL, column: string, { expression: made }: PgCodecAttribute): SQL =>
  made ? made(rows) : sql`${rows}.${sql.identifier(column)}`;

/** The text of a group's value, as its field shows it. */
export function groupText({ attribute, wrap }: Group, column: SQL): SQL {
  const codec = attribute.codec;
  const value = wrap(column);
  const text = codec.castFromPg ? codec.castFromPg(value, false) : sql`${value}::text`;
  const { globalIdOf } = codec.extensions ?? {};
  return globalIdOf === undefined ? text : sql`${sql.literal(globalIdPrefix(globalIdOf))}||${text}`;
}

/** SQL that is true, and fails where more was aggregated than may be. */
export const requireFew = (entries: SQL, groups: SQL): SQL =>
  sql`erp.require_countable(${entries},${groups})`;
