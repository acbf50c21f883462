import type { PgCodec } from "postgraphile/@dataplan/pg";
import type { GraphQLField, GraphQLObjectType } from "postgraphile/graphql";
import { getNamedType, isNonNullType, isObjectType } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import type { Compilation } from "./compilation.ts";
import { fromOf, joinOf, typename, understood } from "./compilation.ts";
import type { Piece } from "./json-text.ts";
import { concatenated, expression, failure, identifier, objectPieces, textOfSql } from "./json-text.ts";
import { listExpression } from "./lists.ts";
import type { FieldSource } from "./field-source.ts";
import { isPresent } from "./function-call.ts";
import type { SelectedField } from "./operation.ts";
import { NotCovered } from "./operation.ts";
import { encoderOf } from "./values.ts";

/** The JSON text of an object from a row. It fails when a required value is missing. */
export function objectExpression(
  compilation: Compilation,
  type: GraphQLObjectType,
  selected: Pick<SelectedField, "below">,
  alias: string,
): string {
  let mayFail = false;
  const fields = compilation.select(type, selected).map(([key, part]): [string, Piece[]] => {
    if (part.name === "__typename") return [key, typename(type)];
    const { field, source } = understood(type, part.name);
    const isValue = source.kind === "column" || source.kind === "function";
    if (isValue && isNonNullType(field.type)) mayFail = true;
    return [key, [expression(valueExpression(compilation, field, source, part, alias))]];
  });
  const text = concatenated(objectPieces(fields));
  return mayFail ? `coalesce(${text},${failure})` : text;
}

function valueExpression(
  compilation: Compilation,
  field: GraphQLField<unknown, unknown>,
  source: FieldSource,
  selected: SelectedField,
  alias: string,
): string {
  if (source.kind === "column") return columnExpression(compilation, field, source, selected, alias);
  if (source.kind === "function") {
    const { codec, call } = source;
    return valueText(codec, field, compilation.call(selected.node, call, alias));
  }
  if (source.kind === "list")
    return listExpression(compilation, field, source, selected, alias, objectExpression);
  if (source.kind === "returned") return returnedExpression(compilation, field, source, selected, alias);
  const type = getNamedType(field.type);
  if (
    source.kind !== "related" ||
    !isObjectType(type) ||
    isNonNullType(field.type) ||
    selected.node.arguments?.length
  )
    throw new NotCovered(field.name);
  const target = compilation.alias();
  const object = objectExpression(compilation, type, selected, target);
  const on = joinOf(source.hop, alias, target);
  return `coalesce((select ${object} from ${fromOf(source.hop.to)} ${target} where ${on}),'null')`;
}

/**
 * The JSON text of the row that a function returns.
 *
 * @param parent the row that the function takes, if it takes one
 */
export function returnedExpression(
  compilation: Compilation,
  { name, type }: GraphQLField<unknown, unknown>,
  { call, present }: FieldSource & { kind: "returned" },
  selected: SelectedField,
  parent: string | null,
): string {
  const named = getNamedType(type);
  if (!isObjectType(named)) throw new NotCovered(name);
  const called = compilation.call(selected.node, call, call.takesRow ? parent : null);
  const alias = compilation.alias();
  const object = objectExpression(compilation, named, selected, alias);
  const condition = textOfSql(isPresent(present, sql.identifier(alias)));
  const otherwise = isNonNullType(type) ? failure : "'null'";
  return `coalesce((select ${object} from ${called} ${alias} where ${condition}),${otherwise})`;
}

function columnExpression(
  compilation: Compilation,
  field: GraphQLField<unknown, unknown>,
  { name, attribute }: FieldSource & { kind: "column" },
  selected: SelectedField,
  alias: string,
): string {
  if (selected.node.arguments?.length) throw new NotCovered(`arguments of ${field.name}`);
  const column = attribute.expression
    ? textOfSql(attribute.expression(sql.identifier(alias)))
    : `${alias}.${identifier(name)}`;
  const type = getNamedType(field.type);
  if (isObjectType(type)) {
    if (!attribute.codec.arrayOfCodec?.attributes) throw new NotCovered(`composite ${field.name}`);
    const element = compilation.alias();
    const object = objectExpression(compilation, type, selected, element);
    const list = (of: string) =>
      `'['||array_to_string(array(select ${object} from unnest(${of}) ${element}),',')||']'`;
    if (isNonNullType(field.type)) return list(column);
    // In a subquery that Postgres can't inline, so that a computed column is computed once.
    const once = compilation.alias();
    return (
      `(select case when ${once}.v is null then 'null' else ${list(`${once}.v`)} end ` +
      `from (select ${column} as v offset 0) ${once})`
    );
  }
  return valueText(attribute.codec, field, column);
}

function valueText(codec: PgCodec, { type }: GraphQLField<unknown, unknown>, value: string): string {
  const encode = encoderOf(codec, type);
  if (!encode) throw new NotCovered(`${codec.name} as ${String(type)}`);
  return isNonNullType(type) ? encode(value) : `coalesce(${encode(value)},'null')`;
}
