import type { PgCodecAnyScalar } from "postgraphile/@dataplan/pg";
import type { SQL, SQLRawValue } from "postgraphile/pg-sql2";

/** A value as a parameter of Postgres. */
export interface Parameter {
  value: SQLRawValue;
  type: SQL;
}

/** One comparison that a filter of a scalar offers, as in `{ quantity: { gte: 5 } }`. */
export interface Operator {
  /**
   * The kind of operand: a value of the field's type, a list of such values, a flag, or a text. Operators of lists and ranges
   * also take an element, or a list of elements.
   */
  operand: "value" | "list" | "flag" | "text" | "element" | "elements";
  description: string;
  /**
   * Returns the parameters for an operand.
   *
   * @throws BAD_USER_INPUT for an operand that the column can't be compared with
   */
  parameters(operand: unknown, codec: PgCodecAnyScalar): Parameter[];
  /**
   * Returns the SQL condition; nulls in the column follow SQL's rules. A flag is passed as such, other operands as parameters.
   */
  condition(column: SQL, parameters: readonly SQL[], flag?: boolean): SQL;
}
