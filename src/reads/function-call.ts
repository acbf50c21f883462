import type { PgCodec, PgCodecAnyScalar } from "postgraphile/@dataplan/pg";
import { listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { SQL, SQLRawValue } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { apiError, isApiError } from "../errors/api-error.ts";
import { getElementCodec } from "./codecs.ts";
import { checkLength } from "./filter-conditions.ts";
import { checkText } from "./filter-operators.ts";

/** An argument of a function that clients can set. */
export interface CallArgument {
  /** Name in GraphQL. */
  fieldName: string;
  /** Name in SQL. */
  name: string;
  codec: PgCodec;
}

/** A function that a field calls, with or without a row. */
export interface FunctionCall {
  /** Its name in SQL, with the schema. */
  name: SQL;
  takesRow: boolean;
  /** Its arguments without the row. */
  arguments: readonly CallArgument[];
}

/** An argument with a value. Arguments without one take their defaults in SQL. */
export interface ArgumentValue {
  name: string;
  value: SQLRawValue;
  type: SQL;
}

/**
 * Returns SQL of whether a function has returned a row. Null arrives as a row whose columns are all null.
 *
 * @param column a column that is never null, if there is one
 */
export const buildPresentCondition = (column: string | undefined, row: SQL): SQL =>
  column === undefined ? sql`not (${row} is null)` : sql`${row}.${sql.identifier(column)} is not null`;

const isSmall = (value: unknown): boolean => Math.abs((value as number) + 0.5) < 2 ** 15;

/**
 * Returns the value of an argument as a parameter of Postgres; undefined if the request doesn't have it.
 *
 * @throws BAD_USER_INPUT for a value that Postgres can't take
 */
export function readArgument(
  { fieldName, name, codec }: CallArgument,
  value: unknown,
): ArgumentValue | undefined {
  if (value === undefined) return undefined;
  const element = getElementCodec(codec);
  const type = element ? sql`${element.sqlType}[]` : codec.sqlType;
  if (value === null) return { name, value: null, type };
  const values = element ? (value as unknown[]) : [value];
  try {
    checkLength(values, fieldName);
    values.forEach(checkText);
    if ((element ?? codec) === TYPES.int2 && !values.every(isSmall))
      throw apiError("BAD_USER_INPUT", "A number is outside the range from -32768 to 32767.");
    const list = element && listOfCodec(element as PgCodecAnyScalar);
    return { name, value: list ? list.toPg(value as unknown[]) : codec.toPg(value), type };
  } catch (error) {
    throw isApiError(error) ? apiError(error.extensions.code, `${fieldName}: ${error.message}`) : error;
  }
}
