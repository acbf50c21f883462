import type { GraphQLObjectType } from "postgraphile/graphql";
import { isObjectType } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import type { Compilation } from "./compilation.ts";
import { fromOf } from "./compilation.ts";
import type { Rows } from "./field-source.ts";
import { rowsOfType } from "./field-source.ts";
import type { IdsOfType } from "./ids.ts";
import type { Piece } from "./json-text.ts";
import { expression, json, textOfSql } from "./json-text.ts";
import { orderOf, parameterType } from "./keys.ts";
import type { ExpressObject } from "./lists.ts";
import type { SelectedField } from "./operation.ts";
import { NotCovered } from "./operation.ts";

/** The objects with some ids as a JSON list: each type's are found together, by the index of its key. */
export function nodesExpression(
  compilation: Compilation,
  selected: SelectedField,
  expressObject: ExpressObject,
): Piece {
  const { ids, count } = compilation.given.get(selected.node)!.nodes!;
  if (count === 0) return json("[]");
  const [row, place] = [compilation.alias(), compilation.alias()];
  const places = `generate_series(1,${compilation.parameter(selected.node, 0, "int")}) ${place}(n)`;
  const found = ids.flatMap((one) => {
    const type = compilation.operation.schema.getType(one.typeName);
    // An id of a type that doesn't exist leads to nothing.
    if (!isObjectType(type) || !type.getInterfaces().some(({ name }) => name === "Node")) return [];
    const rows = rowsOfType(type);
    if (!rows) throw new NotCovered(`rows of ${type.name}`);
    return [ofType(compilation, { ...one, type, rows }, selected, expressObject)];
  });
  if (found.length === 0) return expression(`(select '['||string_agg('null',',')||']' from ${places})`);
  const text = `'['||string_agg(coalesce(${row}.o,'null'),',' order by ${place}.n)||']'`;
  return expression(
    `(select ${text} from ${places} left join (${found.join(" union all ")}) ${row} on ${row}.n=${place}.n)`,
  );
}

function ofType(
  compilation: Compilation,
  { type, rows: { resource, key }, index }: IdsOfType & { type: GraphQLObjectType; rows: Rows },
  selected: SelectedField,
  expressObject: ExpressObject,
): string {
  const [alias, given] = [compilation.alias(), compilation.alias()];
  const lists = [
    compilation.parameter(selected.node, index, "int[]"),
    ...key.map((part, column) =>
      compilation.parameter(selected.node, index + 1 + column, `${textOfSql(parameterType(part))}[]`),
    ),
  ];
  const object = expressObject(compilation, type, selected, alias);
  const matches = orderOf(key, sql.identifier(alias)).map(
    (column, part) => `${textOfSql(column)}=${given}.k${part}`,
  );
  const names = ["n", ...key.map((_part, column) => `k${column}`)].join();
  return (
    `select ${given}.n,${object} as o from unnest(${lists.join()}) ${given}(${names}) ` +
    `join ${fromOf(resource)} ${alias} on ${matches.join(" and ")}`
  );
}
