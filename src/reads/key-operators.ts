import { listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { Operator, Parameter } from "./operator.ts";
import { operators } from "./filter-operators.ts";
import type { Key } from "./keys.ts";
import { parameterType, buildRowValue } from "./keys.ts";

/** Returns the operators of ids that consist of several columns, or of a column with another name. */
export function keyOperators(
  key: Key,
  valuesOf: (id: unknown) => readonly string[],
): Record<string, Operator> {
  const createParameters = (id: unknown): Parameter[] =>
    valuesOf(id).map((value, index) => ({ value, type: parameterType(key[index]!) }));
  const createListParameters = (ids: unknown): Parameter[] => {
    const rows = (ids as unknown[]).map(valuesOf);
    return key.map((part, index) => ({
      value: listOfCodec(TYPES.text).toPg(rows.map((values) => values[index]!)),
      type: sql`${parameterType(part)}[]`,
    }));
  };
  const buildSubquery = (lists: readonly SQL[]) => sql`(select * from unnest(${sql.join(lists, ",")}))`;
  return {
    equals: {
      ...operators.equals,
      parameters: createParameters,
      condition: (row, values) => sql`${row} = ${buildRowValue(values)}`,
    },
    in: {
      ...operators.in,
      parameters: createListParameters,
      condition: (row, lists) => sql`${row} in ${buildSubquery(lists)}`,
    },
    notIn: {
      ...operators.notIn,
      parameters: createListParameters,
      condition: (row, lists) => sql`${row} not in ${buildSubquery(lists)}`,
    },
  };
}
