import type { GraphQLObjectType } from "postgraphile/graphql";
import { getNamedType, isNonNullType, isObjectType } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import type { Compilation, Field } from "./compilation.ts";
import { fromOf, joinText, objectTypeOf } from "./compilation.ts";
import { concatenated, expression, failure, identifier, textOfSql } from "./json-text.ts";
import { listExpression } from "./lists.ts";
import type { FieldSource } from "./field-source.ts";
import { isPresent } from "./function-call.ts";
import type { SelectedField } from "./selection.ts";
import { NotCovered } from "./selection.ts";
import { valueText } from "./values.ts";

/** Returns SQL of the JSON text of an object from a row. It fails when a required value is missing. */
export function objectExpression(
  compilation: Compilation,
  type: GraphQLObjectType,
  selected: Pick<SelectedField, "below">,
  alias: string,
): string {
  let mayFail = false;
  const pieces = compilation.object(type, selected, (field, source, part) => {
    const isValue = source.kind === "column" || source.kind === "function";
    if (isValue && isNonNullType(field.type)) mayFail = true;
    return [expression(valueExpression(compilation, field, source, part, alias))];
  });
  const text = concatenated(pieces);
  return mayFail ? `coalesce(${text},${failure})` : text;
}

function valueExpression(
  compilation: Compilation,
  field: Field,
  source: FieldSource,
  selected: SelectedField,
  alias: string,
): string {
  if (source.kind === "column") return columnExpression(compilation, field, source, selected, alias);
  if (source.kind === "function") {
    const { codec, call } = source;
    return valueText(codec, field, compilation.call(selected.node, call, alias));
  }
  if (source.kind === "list") return listExpression(compilation, field, source, selected, alias);
  if (source.kind === "returned") return returnedExpression(compilation, field, source, selected, alias);
  if (source.kind !== "related" || isNonNullType(field.type)) throw new NotCovered(field.name);
  const target = compilation.alias();
  const object = objectExpression(compilation, objectTypeOf(field), selected, target);
  const on = joinText(source.hop, alias, target);
  return `coalesce((select ${object} from ${fromOf(source.hop.to)} ${target} where ${on}),'null')`;
}

/**
 * Returns SQL of the JSON text of the row that a function returns.
 *
 * @param parent the alias of the row that the function takes, if it takes one
 */
export function returnedExpression(
  compilation: Compilation,
  field: Field,
  { call, present }: FieldSource & { kind: "returned" },
  selected: SelectedField,
  parent: string | null,
): string {
  const type = objectTypeOf(field);
  const called = compilation.call(selected.node, call, call.takesRow ? parent : null);
  const alias = compilation.alias();
  const object = objectExpression(compilation, type, selected, alias);
  const condition = textOfSql(isPresent(present, sql.identifier(alias)));
  const otherwise = isNonNullType(field.type) ? failure : "'null'";
  return `coalesce((select ${object} from ${called} ${alias} where ${condition}),${otherwise})`;
}

function columnExpression(
  compilation: Compilation,
  field: Field,
  { name, attribute }: FieldSource & { kind: "column" },
  selected: SelectedField,
  alias: string,
): string {
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
    // In a subquery that Postgres can't inline, so that a computed column is computed once
    const once = compilation.alias();
    return (
      `(select case when ${once}.v is null then 'null' else ${list(`${once}.v`)} end ` +
      `from (select ${column} as v offset 0) ${once})`
    );
  }
  return valueText(attribute.codec, field, column);
}
