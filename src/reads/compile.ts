import type { FieldNode } from "postgraphile/graphql";
import { getNamedType, isInterfaceType, isNonNullType } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import type { FieldArguments } from "./arguments.ts";
import type { Field, Statement } from "./compilation.ts";
import { Compilation, buildFrom, findRows } from "./compilation.ts";
import type { FieldSource } from "./field-source.ts";
import type { IdsOfType } from "./ids.ts";
import type { Piece } from "./json-text.ts";
import { concatenate, sqlPiece, jsonPiece, toSqlText } from "./json-text.ts";
import { buildKeyColumns, parameterType } from "./keys.ts";
import { buildList } from "./lists.ts";
import { buildObject, buildReturnedRow } from "./objects.ts";
import type { CoercedVariables, ReadableOperation, SelectedField } from "./selection.ts";
import { UnsupportedOperation } from "./selection.ts";

/**
 * Compiles an operation to one SQL statement, which returns one row with one column: the data as JSON text.
 *
 * @throws {UnsupportedOperation} when some part of the operation has no known SQL form
 */
export function compile(
  operation: ReadableOperation,
  variables: CoercedVariables,
  fieldArguments: ReadonlyMap<FieldNode, FieldArguments>,
): Statement {
  const compilation = new Compilation(operation, variables, fieldArguments, buildObject);
  const set = { below: [operation.definition.selectionSet] };
  const pieces = compilation.buildObject(operation.schema.getQueryType()!, set, (field, source, selected) => [
    buildRoot(compilation, field, source, selected),
  ]);
  return compilation.createStatement(`select ${concatenate(pieces)}`);
}

function buildRoot(
  compilation: Compilation,
  field: Field,
  source: FieldSource,
  selected: SelectedField,
): Piece {
  if (source.kind === "list") return sqlPiece(buildList(compilation, field, source, selected, null));
  if (source.kind === "returned")
    return sqlPiece(buildReturnedRow(compilation, field, source, selected, null));
  if (source.kind === "nodes") return buildNodes(compilation, selected);
  if (source.kind !== "row" && source.kind !== "node") throw new UnsupportedOperation(source.kind);
  if (isNonNullType(field.type)) throw new UnsupportedOperation("a row that must be there");
  const named = getNamedType(field.type);
  const found = findRows(
    isInterfaceType(named)
      ? compilation.operation.schema.getType(compilation.getArgument(selected.node, "typeName"))
      : named,
  );
  if (!found) return jsonPiece("null");
  const { type, rows } = found;
  const alias = compilation.createAlias();
  const compared = buildKeyColumns(rows.key, sql.identifier(alias)).map((column, index) => {
    const part = toSqlText(parameterType(rows.key[index]!));
    return `${toSqlText(column)}=${compilation.addParameter(selected.node, index, part)}`;
  });
  const object = compilation.buildRow(type, selected, alias);
  return sqlPiece(
    `coalesce((select ${object} from ${buildFrom(rows.resource)} ${alias} where ${compared.join(" and ")}),'null')`,
  );
}

/** Returns SQL of the objects with given ids as a JSON list. The objects of each type are read at once, by the index of its key. */
function buildNodes(compilation: Compilation, selected: SelectedField): Piece {
  const { ids, count } = compilation.getArgument(selected.node, "nodes");
  if (count === 0) return jsonPiece("[]");
  const [row, place] = [compilation.createAlias(), compilation.createAlias()];
  const places = `generate_series(1,${compilation.addParameter(selected.node, 0, "int")}) ${place}(n)`;
  const found = ids.flatMap((one) => buildNodesOfType(compilation, one, selected) ?? []);
  if (found.length === 0) return sqlPiece(`(select '['||string_agg('null',',')||']' from ${places})`);
  const text = `'['||string_agg(coalesce(${row}.o,'null'),',' order by ${place}.n)||']'`;
  return sqlPiece(
    `(select ${text} from ${places} left join (${found.join(" union all ")}) ${row} on ${row}.n=${place}.n)`,
  );
}

function buildNodesOfType(
  compilation: Compilation,
  { typeName, index }: IdsOfType,
  selected: SelectedField,
): string | null {
  const found = findRows(compilation.operation.schema.getType(typeName));
  if (!found) return null;
  const { resource, key } = found.rows;
  const [alias, wanted] = [compilation.createAlias(), compilation.createAlias()];
  const lists = [
    compilation.addParameter(selected.node, index, "int[]"),
    ...key.map((part, column) =>
      compilation.addParameter(selected.node, index + 1 + column, `${toSqlText(parameterType(part))}[]`),
    ),
  ];
  const object = compilation.buildRow(found.type, selected, alias);
  const matches = buildKeyColumns(key, sql.identifier(alias)).map(
    (column, part) => `${toSqlText(column)}=${wanted}.k${part}`,
  );
  const names = ["n", ...key.map((_part, column) => `k${column}`)].join();
  return (
    `select ${wanted}.n,${object} as o from unnest(${lists.join()}) ${wanted}(${names}) ` +
    `join ${buildFrom(resource)} ${alias} on ${matches.join(" and ")}`
  );
}
