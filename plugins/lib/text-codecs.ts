import type { PgCodec, PgCodecAnyScalar } from "postgraphile/@dataplan/pg";
import { listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { getElementCodec } from "../../src/reads/codecs.ts";
import { buildStableText } from "../../src/reads/keys.ts";
import type { readers } from "./scalar-texts.ts";

declare global {
  namespace DataplanPg {
    interface PgCodecExtensions {
      /** The scalar of values that are texts outside SQL. */
      scalar?: string;
      /** The codec of a range's bounds. */
      bound?: PgCodec;
    }
  }
}

export type ScalarName = keyof typeof readers;

/** Types whose values are texts outside SQL, with their scalars. */
const scalarsByType: Readonly<Record<string, ScalarName | "String">> = {
  // Without its padding
  bpchar: "String",
  uuid: "UUID",
  date: "Date",
  time: "Time",
  timestamp: "LocalDateTime",
  timestamptz: "DateTime",
  interval: "Duration",
  bytea: "Base64",
  inet: "InternetAddress",
  cidr: "InternetAddress",
  macaddr: "MacAddress",
  macaddr8: "MacAddress",
};

interface TextCodec {
  name: string;
  sqlType: SQL;
  scalar: string;
  oid?: string;
  pgType?: string;
  bound?: PgCodec;
  toText?: (value: SQL) => SQL;
}

function textCodec({ name, sqlType, scalar, oid, pgType = name, bound, toText }: TextCodec): PgCodec {
  const castFromPg = toText ?? ((value: SQL) => buildStableText(pgType, sql.parens(value)));
  return {
    name,
    sqlType,
    castFromPg,
    listCastFromPg(list: SQL) {
      const element = sql.identifier(Symbol(name));
      const texts = sql`array(select ${castFromPg(element)} from unnest(${list}) ${element})::text`;
      return sql`(case when ${list} is null then null else ${texts} end)`;
    },
    fromPg: (value: string) => value,
    toPg: (value: string) => value,
    attributes: undefined,
    executor: null,
    hasNaturalEquality: true,
    hasNaturalOrdering: bound === undefined,
    extensions: { ...(oid ? { oid } : {}), pgType, scalar, ...(bound ? { bound } : {}) },
  };
}

const format = sql.literal('YYYY-MM-DD"T"HH24:MI:SS"+00:00"');

const codecOverrides: Readonly<Record<string, Partial<TextCodec>>> = {
  timestamptz: {
    name: "dateTime",
    sqlType: TYPES.timestamptz.sqlType,
    pgType: "timestamptz",
    // In UTC, so that output doesn't depend on the session's time zone
    toText: (moment) => sql`to_char((${moment}) at time zone 'UTC', ${format}::text)`,
  },
  bytea: { toText: (value) => sql`translate(encode(${value},'base64'),E'\\n','')` },
};

/** Returns the codec of a built-in type of Postgres; undefined if the library's will do. */
export function builtInCodec(pgType: string, oid: string): PgCodec | undefined {
  const scalar = Object.hasOwn(scalarsByType, pgType) ? scalarsByType[pgType] : undefined;
  return (
    scalar &&
    textCodec({ name: pgType, sqlType: sql.identifier(pgType), scalar, oid, ...codecOverrides[pgType] })
  );
}

/** Makes the codec of a type that is shown as its text, and that clients can neither filter by nor pass. */
export function otherCodec(name: string, sqlType: SQL, oid: string): PgCodec {
  return textCodec({ name, sqlType, scalar: "String", oid, pgType: "other" });
}

/** Makes the codec of citext, an extension of Postgres. @param schema the schema in which it is installed */
export function citextCodec(sqlType: SQL, oid: string, schema: string): PgCodec {
  const codec = textCodec({ name: "citext", sqlType, scalar: "String", oid });
  return { ...codec, extensions: { ...codec.extensions!, operatorsIn: schema } };
}

/** Codecs of bigint and numeric as texts, because a JSON number has at most 53 bits. */
const exactCodecs = new Map<PgCodec, PgCodec>(
  (
    [
      [TYPES.bigint, "BigInt"],
      [TYPES.numeric, "Decimal"],
    ] as const
  ).map(([codec, scalar]) => [
    codec,
    textCodec({ name: `exact${scalar}`, sqlType: codec.sqlType, scalar, pgType: codec.name }),
  ]),
);

/** Returns the codec that loses no digit of a number, also in lists; for other types, the codec itself. */
export const toExactCodec = (codec: PgCodec): PgCodec =>
  mapElementCodec(codec, (one) => exactCodecs.get(one) ?? one);

/** Changes a codec, or the codec of a list's elements. */
export function mapElementCodec(codec: PgCodec, change: (codec: PgCodec) => PgCodec): PgCodec {
  const element = getElementCodec(codec);
  const changed = change(element ?? codec);
  if (!element) return changed;
  return changed === element ? codec : listOfCodec(changed as PgCodecAnyScalar);
}

const boundNames: Readonly<Record<string, string>> = { int4range: "IntRange" };

/** Makes the codec of a range. Postgres' own text of a range depends on the session's settings. */
export function rangeCodec(name: string, sqlType: SQL, oid: string, inner: PgCodec): PgCodec | undefined {
  const bound = exactCodecs.get(inner) ?? inner;
  const scalar = boundNames[name] ?? (bound.extensions?.scalar && `${bound.extensions.scalar}Range`);
  if (!scalar) return undefined;
  const cast = (value: SQL) => bound.castFromPg?.(value, false) ?? sql`${value}::text`;
  return textCodec({
    name,
    sqlType,
    oid,
    scalar,
    bound,
    pgType: "range",
    toText(range) {
      const begin = sql`case when lower_inc(${range}) then '[' else '(' end||coalesce(${cast(sql`lower(${range})`)},'')`;
      const end = sql`coalesce(${cast(sql`upper(${range})`)},'')||case when upper_inc(${range}) then ']' else ')' end`;
      return sql`(case when isempty(${range}) then 'empty' when ${range} is not null then ${begin}||','||${end} end)`;
    },
  });
}
