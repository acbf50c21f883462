import type { PgCodec } from "postgraphile/@dataplan/pg";
import { isEnumCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { GraphQLOutputType } from "postgraphile/graphql";
import { getNullableType, isEnumType, isListType, isNonNullType, isScalarType } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import { globalIdPrefix } from "../graphql/global-id.ts";
import { getBaseCodec, getElementCodec, getPgTypeName } from "./codecs.ts";
import type { Field } from "./compilation.ts";
import { needsNoEscaping } from "./keys.ts";
import { failingSql, quoteLiteral, toSqlTextWithConstants } from "./json-text.ts";
import { UnsupportedOperation } from "./selection.ts";

/** Returns SQL of the JSON text of a column's value; null stays null. */
type Encode = (column: string) => string;

const asText: Encode = (column) => `${column}::text`;
// The cast to JSON fails for NaN and infinities, as GraphQL does
const asNumber: Encode = (column) => `${column}::text::json::text`;
const asString: Encode = (column) => `to_json(${column}::text)::text`;

const byScalar: Readonly<Record<string, ReadonlyMap<PgCodec, Encode>>> = {
  Int: new Map<PgCodec, Encode>([
    [TYPES.int2, asText],
    [TYPES.int, asText],
  ]),
  Float: new Map<PgCodec, Encode>([
    [TYPES.numeric, (column) => asNumber(`trim_scale(${column})`)],
    [TYPES.float, asNumber],
    [TYPES.float4, asNumber],
    [TYPES.int, asText],
    [TYPES.bigint, asText],
  ]),
  Boolean: new Map<PgCodec, Encode>([[TYPES.boolean, asText]]),
  String: new Map<PgCodec, Encode>([
    [TYPES.text, asString],
    [TYPES.varchar, asString],
    [TYPES.name, asString],
    [TYPES.char, asString],
  ]),
  JSON: new Map<PgCodec, Encode>([
    [TYPES.json, asText],
    [TYPES.jsonb, asText],
  ]),
};

/** Returns SQL of the JSON text of a field's value. @throws {UnsupportedOperation} when its form in SQL isn't known */
export function buildJson(codec: PgCodec, { type }: Field, value: string): string {
  const encode = findEncoder(codec, type);
  if (!encode) throw new UnsupportedOperation(`${codec.name} as ${String(type)}`);
  return isNonNullType(type) ? encode(value) : `coalesce(${encode(value)},'null')`;
}

/** Returns the encoder from a column's values to a field's values; undefined if it isn't known for these types. */
function findEncoder(codec: PgCodec, fieldType: GraphQLOutputType): Encode | undefined {
  const type = getNullableType(fieldType);
  const element = getElementCodec(codec);
  if (isListType(type)) return element && createListEncoder(element, type.ofType);
  if (isEnumType(type)) return createEnumEncoder(codec, type.getValues());
  if (!isScalarType(type)) return undefined;
  const { globalIdOf } = codec.extensions ?? {};
  if (globalIdOf !== undefined && !element && type.name === "ID") {
    const prefix = globalIdPrefix(globalIdOf);
    if (needsNoEscaping(getPgTypeName(codec)))
      return (column) => `'"${prefix}'||${buildCast(codec, column)}||'"'`;
    return (column) => `to_json('${prefix}'||${buildCast(codec, column)})::text`;
  }
  if (type.name === "DateTime" && codec.name === "dateTime" && codec.castFromPg) {
    return (column) => `'"'||${buildCast(codec, column)}||'"'`;
  }
  if (codec.extensions?.scalar === type.name) return (column) => `to_json(${buildCast(codec, column)})::text`;
  return byScalar[type.name]?.get(getBaseCodec(codec));
}

function buildCast(codec: PgCodec, column: string): string {
  // With a unique name, because the library demands an identifier
  const text = toSqlTextWithConstants(codec.castFromPg!(sql.identifier("the column"), false));
  return text.replaceAll('"the column"', () => column);
}

/** Returns the encoder of a list. It fails for nested lists, and for nulls that the type doesn't allow. */
function createListEncoder(codec: PgCodec, elementType: GraphQLOutputType): Encode | undefined {
  const encode = findEncoder(codec, elementType);
  if (!encode) return undefined;
  const isText = getBaseCodec(codec) === TYPES.text;
  const mayHoldNull = !isNonNullType(elementType);
  const element = mayHoldNull ? `coalesce(${encode("e.v")},'null')` : encode("e.v");
  return (column) => {
    const list = isText
      ? `array_to_json(${column})::text`
      : `'['||array_to_string(array(select ${element} from unnest(${column}) e(v)),',')||']'`;
    const isWhole = mayHoldNull ? "" : `array_position(${column},null) is null and `;
    return (
      `case when ${column} is null then null when ${isWhole}coalesce(array_ndims(${column}),1)=1 ` +
      `then ${list} else ${failingSql} end`
    );
  };
}

function createEnumEncoder(
  codec: PgCodec,
  values: readonly { name: string; value?: unknown }[],
): Encode | undefined {
  if (!isEnumCodec(codec) && !codec.extensions?.enumOfText) return undefined;
  const cases = values.map(
    ({ name, value }) => `when ${quoteLiteral(String(value))} then ${quoteLiteral(JSON.stringify(name))}`,
  );
  return (column) =>
    `case when ${column} is not null then case ${column}::text ${cases.join(" ")} else ${failingSql} end end`;
}
