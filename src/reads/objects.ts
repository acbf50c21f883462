import type { GraphQLObjectType } from "postgraphile/graphql";
import { getNamedType, isNonNullType, isObjectType } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import type { Compilation, Field } from "./compilation.ts";
import { buildFrom, buildJoinText, requireObjectType } from "./compilation.ts";
import { concatenate, sqlPiece, failingSql, quoteIdentifier, toSqlText } from "./json-text.ts";
import { buildList } from "./lists.ts";
import type { FieldSource } from "./field-source.ts";
import { buildPresentCondition } from "./function-call.ts";
import type { SelectedField } from "./selection.ts";
import { UnsupportedOperation } from "./selection.ts";
import { buildJson } from "./values.ts";

/** Returns SQL of the JSON text of an object from a row. It fails when a required value is missing. */
export function buildObject(
  compilation: Compilation,
  type: GraphQLObjectType,
  selected: Pick<SelectedField, "below">,
  alias: string,
): string {
  let mayFail = false;
  const pieces = compilation.buildObject(type, selected, (field, source, part) => {
    const isValue = source.kind === "column" || source.kind === "function";
    if (isValue && isNonNullType(field.type)) mayFail = true;
    return [sqlPiece(buildValue(compilation, field, source, part, alias))];
  });
  const text = concatenate(pieces);
  return mayFail ? `coalesce(${text},${failingSql})` : text;
}

function buildValue(
  compilation: Compilation,
  field: Field,
  source: FieldSource,
  selected: SelectedField,
  alias: string,
): string {
  if (source.kind === "column") return buildColumn(compilation, field, source, selected, alias);
  if (source.kind === "function") {
    const { codec, call } = source;
    return buildJson(codec, field, compilation.buildCall(selected.node, call, alias));
  }
  if (source.kind === "list") return buildList(compilation, field, source, selected, alias);
  if (source.kind === "returned") return buildReturnedRow(compilation, field, source, selected, alias);
  if (source.kind !== "related" || isNonNullType(field.type)) throw new UnsupportedOperation(field.name);
  const target = compilation.createAlias();
  const object = buildObject(compilation, requireObjectType(field), selected, target);
  const on = buildJoinText(source.hop, alias, target);
  return `coalesce((select ${object} from ${buildFrom(source.hop.to)} ${target} where ${on}),'null')`;
}

/**
 * Returns SQL of the JSON text of the row that a function returns.
 *
 * @param parent the alias of the row that the function takes, if it takes one
 */
export function buildReturnedRow(
  compilation: Compilation,
  field: Field,
  { call, present }: FieldSource & { kind: "returned" },
  selected: SelectedField,
  parent: string | null,
): string {
  const type = requireObjectType(field);
  const called = compilation.buildCall(selected.node, call, call.takesRow ? parent : null);
  const alias = compilation.createAlias();
  const object = buildObject(compilation, type, selected, alias);
  const condition = toSqlText(buildPresentCondition(present, sql.identifier(alias)));
  const otherwise = isNonNullType(field.type) ? failingSql : "'null'";
  return `coalesce((select ${object} from ${called} ${alias} where ${condition}),${otherwise})`;
}

function buildColumn(
  compilation: Compilation,
  field: Field,
  { name, attribute }: FieldSource & { kind: "column" },
  selected: SelectedField,
  alias: string,
): string {
  const column = attribute.expression
    ? toSqlText(attribute.expression(sql.identifier(alias)))
    : `${alias}.${quoteIdentifier(name)}`;
  const type = getNamedType(field.type);
  if (isObjectType(type)) {
    if (!attribute.codec.arrayOfCodec?.attributes) throw new UnsupportedOperation(`composite ${field.name}`);
    const element = compilation.createAlias();
    const object = buildObject(compilation, type, selected, element);
    const list = (of: string) =>
      `'['||array_to_string(array(select ${object} from unnest(${of}) ${element}),',')||']'`;
    if (isNonNullType(field.type)) return list(column);
    // In a subquery that Postgres can't inline, so that a computed column is computed once
    const once = compilation.createAlias();
    return (
      `(select case when ${once}.v is null then 'null' else ${list(`${once}.v`)} end ` +
      `from (select ${column} as v offset 0) ${once})`
    );
  }
  return buildJson(attribute.codec, field, column);
}
