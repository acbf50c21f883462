import type { FieldNode } from "postgraphile/graphql";
import { getNamedType, isInterfaceType, isNonNullType } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import type { Given } from "./arguments.ts";
import type { Field, Statement } from "./compilation.ts";
import { Compilation, fromOf, rowsById } from "./compilation.ts";
import type { FieldSource } from "./field-source.ts";
import type { IdsOfType } from "./ids.ts";
import type { Piece } from "./json-text.ts";
import { concatenated, expression, json, textOfSql } from "./json-text.ts";
import { orderOf, parameterType } from "./keys.ts";
import { listExpression } from "./lists.ts";
import { objectExpression, returnedExpression } from "./objects.ts";
import type { Coerced, ReadableOperation, SelectedField } from "./selection.ts";
import { NotCovered } from "./selection.ts";

/**
 * Compiles an operation to one SQL statement, which returns one row with one column: the data as JSON text.
 *
 * @throws {NotCovered} when some part of the operation has no known SQL form
 */
export function compile(
  operation: ReadableOperation,
  variables: Coerced,
  given: ReadonlyMap<FieldNode, Given>,
): Statement {
  const compilation = new Compilation(operation, variables, given, objectExpression);
  const set = { below: [operation.definition.selectionSet] };
  const pieces = compilation.object(operation.schema.getQueryType()!, set, (field, source, selected) => [
    root(compilation, field, source, selected),
  ]);
  return compilation.statement(`select ${concatenated(pieces)}`);
}

function root(compilation: Compilation, field: Field, source: FieldSource, selected: SelectedField): Piece {
  if (source.kind === "list") return expression(listExpression(compilation, field, source, selected, null));
  if (source.kind === "returned")
    return expression(returnedExpression(compilation, field, source, selected, null));
  if (source.kind === "nodes") return nodesExpression(compilation, selected);
  if (source.kind !== "row" && source.kind !== "node") throw new NotCovered(source.kind);
  if (isNonNullType(field.type)) throw new NotCovered("a row that must be there");
  const named = getNamedType(field.type);
  const found = rowsById(
    isInterfaceType(named)
      ? compilation.operation.schema.getType(compilation.given(selected.node, "typeName"))
      : named,
  );
  if (!found) return json("null");
  const { type, rows } = found;
  const alias = compilation.alias();
  const compared = orderOf(rows.key, sql.identifier(alias)).map((column, index) => {
    const part = textOfSql(parameterType(rows.key[index]!));
    return `${textOfSql(column)}=${compilation.parameter(selected.node, index, part)}`;
  });
  const object = compilation.row(type, selected, alias);
  return expression(
    `coalesce((select ${object} from ${fromOf(rows.resource)} ${alias} where ${compared.join(" and ")}),'null')`,
  );
}

/** Returns SQL of the objects with given ids as a JSON list. The objects of each type are read at once, by the index of its key. */
function nodesExpression(compilation: Compilation, selected: SelectedField): Piece {
  const { ids, count } = compilation.given(selected.node, "nodes");
  if (count === 0) return json("[]");
  const [row, place] = [compilation.alias(), compilation.alias()];
  const places = `generate_series(1,${compilation.parameter(selected.node, 0, "int")}) ${place}(n)`;
  const found = ids.flatMap((one) => nodesOfType(compilation, one, selected) ?? []);
  if (found.length === 0) return expression(`(select '['||string_agg('null',',')||']' from ${places})`);
  const text = `'['||string_agg(coalesce(${row}.o,'null'),',' order by ${place}.n)||']'`;
  return expression(
    `(select ${text} from ${places} left join (${found.join(" union all ")}) ${row} on ${row}.n=${place}.n)`,
  );
}

function nodesOfType(
  compilation: Compilation,
  { typeName, index }: IdsOfType,
  selected: SelectedField,
): string | null {
  const found = rowsById(compilation.operation.schema.getType(typeName));
  if (!found) return null;
  const { resource, key } = found.rows;
  const [alias, given] = [compilation.alias(), compilation.alias()];
  const lists = [
    compilation.parameter(selected.node, index, "int[]"),
    ...key.map((part, column) =>
      compilation.parameter(selected.node, index + 1 + column, `${textOfSql(parameterType(part))}[]`),
    ),
  ];
  const object = compilation.row(found.type, selected, alias);
  const matches = orderOf(key, sql.identifier(alias)).map(
    (column, part) => `${textOfSql(column)}=${given}.k${part}`,
  );
  const names = ["n", ...key.map((_part, column) => `k${column}`)].join();
  return (
    `select ${given}.n,${object} as o from unnest(${lists.join()}) ${given}(${names}) ` +
    `join ${fromOf(resource)} ${alias} on ${matches.join(" and ")}`
  );
}
