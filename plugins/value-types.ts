import type { PgCodec, PgCodecAnyScalar } from "postgraphile/@dataplan/pg";
import { listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { GraphQLScalarTypeConfig } from "postgraphile/graphql";
import { Kind, print } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import type { ScalarName } from "./lib/text-codecs.ts";
import { builtInCodec, citextCodec, toExactCodec, otherCodec, rangeCodec } from "./lib/text-codecs.ts";
import { parseDateTime } from "./lib/date-time.ts";
import { inputReader, parseJson, rangeReader, readers } from "./lib/scalar-texts.ts";
import { hasTag, tagWords } from "./lib/tags.ts";

/** An example and a description of each scalar. */
const scalars: Readonly<Record<Exclude<ScalarName, "DateTime">, [example: string, description: string]>> = {
  UUID: ['"0198aa5e-0c55-7c01-8a5f-2a5d5c0d3a11"', "A UUID, as a string in lower case."],
  Date: ['"2026-06-30"', "A date, as a string such as `2026-06-30`."],
  Time: ['"08:15:00"', "A time of day, as a string such as `08:15:00`, with up to six decimals of a second."],
  LocalDateTime: [
    '"2026-06-30T08:15:00"',
    "A date and time without a time zone, as a string such as `2026-06-30T08:15:00`.",
  ],
  Duration: ['"P1DT2H30M"', "A duration in ISO 8601 format, as a string such as `P1DT2H30M`."],
  Base64: ['"aGVsbG8="', "Bytes, as a string in Base64."],
  InternetAddress: ['"10.0.0.1"', "An IPv4 or IPv6 address, or a network such as `10.0.0.0/8`, as a string."],
  MacAddress: ['"08:00:2b:01:02:03"', "A MAC address, as a string such as `08:00:2b:01:02:03`."],
  BigInt: ['"9007199254740993"', "An integer of up to 64 bits, as a string, so that no digit is lost."],
  Decimal: ['"12.50"', "A decimal number, as a string, so that no digit is lost."],
};

/** Scalars of ranges, with the scalar of their bounds. */
const ranges: Readonly<Record<string, [bound: ScalarName, example: string]>> = {
  IntRange: ["BigInt", '"[1,10)"'],
  BigIntRange: ["BigInt", '"[1,10)"'],
  DecimalRange: ["Decimal", '"[0.5,1.5)"'],
  DateRange: ["Date", '"[2026-01-01,2026-02-01)"'],
  LocalDateTimeRange: ["LocalDateTime", '"[2026-01-01T00:00:00,2026-02-01T00:00:00)"'],
  DateTimeRange: ["DateTime", '"[2026-01-01T00:00:00Z,2026-02-01T00:00:00Z)"'],
};

type Config = Partial<GraphQLScalarTypeConfig<unknown, unknown>>;

const configs = new Map<string, Config>([
  ...Object.entries(scalars).map(([name, [example, description]]) =>
    scalarConfig(name, description, inputReader(name, readers[name as ScalarName], example)),
  ),
  ...Object.entries(ranges).map(([name, [bound, example]]) => {
    const description = `A range of values, as a string such as \`${example.slice(1, -1)}\`. Without a bound, that side is unlimited.`;
    return scalarConfig(name, description, inputReader(name, rangeReader(bound), example));
  }),
  scalarConfig(
    "DateTime",
    "A date and time, as an RFC 3339 string such as `2026-06-30T08:15:00+00:00`. " +
      "Output is in UTC, to the second. Input may have any offset, or `Z`.",
    {
      parseValue: parseDateTime,
      parseLiteral: (node) => parseDateTime(node.kind === Kind.STRING ? node.value : print(node)),
    },
  ),
  ["JSON", { parseValue: (value) => parseJson(value) }],
]);

function scalarConfig(name: string, description: string, read: Config): [string, Config] {
  return [name, { description, serialize: (value) => value, ...read }];
}

/** Built-in types that the library reads as we want. Of others, it makes objects (points) or inexact numbers (money). */
const libraryTypes = new Set(
  "bool int2 int4 int8 float4 float8 numeric text varchar name char json jsonb".split(" "),
);

/** Codecs by the types of one introspection. */
const codecs = new WeakMap<object, PgCodec>();

/**
 * Adds scalars for types of values for which the library has none, or one that accepts everything. Input is checked here,
 * so that clients get the error, and output doesn't depend on settings of the session.
 *
 * bigint and numeric are Float in versions that are older than BigInt and Decimal, and in the views and types that the
 * schema's tag @floats names.
 */
export const ValueTypesPlugin: GraphileConfig.Plugin = {
  name: "ValueTypesPlugin",
  description: "Shows dates, times, durations, bytes, addresses, ranges and exact numbers as strings",
  before: ["PgCodecsPlugin"],
  gather: {
    hooks: {
      async pgCodecs_findPgCodec(info, event) {
        const { pgType, serviceName } = event;
        if (event.pgCodec) return;
        // The library asks again for each modifier of the type, such as the length of a text
        const known = codecs.get(pgType);
        if (known) {
          event.pgCodec = known;
          return;
        }
        const { typname, typtype, typcategory, _id: oid } = pgType;
        const schema = pgType.getNamespace()!.nspname;
        const codecOf = (id: string) => info.helpers.pgCodecs.getCodecFromType(serviceName, id);
        const sqlType = sql.identifier(schema, typname);
        if (typtype === "d") {
          const inner = pgType.typbasetype && (await codecOf(pgType.typbasetype));
          if (inner) event.pgCodec = inner;
        } else if (typtype === "r") {
          const range = await info.helpers.pgIntrospection.getRangeByType(serviceName, oid);
          const inner = range?.rngsubtype && (await codecOf(range.rngsubtype));
          const codec = inner && rangeCodec(typname, sqlType, oid, inner);
          event.pgCodec = codec || otherCodec(typname, sqlType, oid);
        } else if (typname === "citext") {
          event.pgCodec = citextCodec(sqlType, oid, schema);
        } else if (typtype === "m") {
          event.pgCodec = otherCodec(typname, sqlType, oid);
        } else if (typcategory === "A") {
          // The library's arrays of built-in types would hold its own codecs
          const inner = schema === "pg_catalog" && pgType.typelem && (await codecOf(pgType.typelem));
          if (inner && inner.castFromPg && inner.listCastFromPg)
            event.pgCodec = listOfCodec(inner as PgCodecAnyScalar);
        } else if (typtype === "b") {
          const codec = schema === "pg_catalog" ? builtInCodec(typname, oid) : undefined;
          if (codec) event.pgCodec = codec;
          else if (schema !== "pg_catalog" || !libraryTypes.has(typname))
            event.pgCodec = otherCodec(typname, sqlType, oid);
        }
        if (event.pgCodec) codecs.set(pgType, event.pgCodec);
      },
      pgCodecs_attribute(_info, { pgClass, attribute }) {
        const namespace = pgClass.getNamespace()!;
        const tagged = { extensions: { tags: namespace.getTagsAndDescription().tags } };
        if (!hasTag(tagged, "floats") || tagWords(tagged, "floats").includes(pgClass.relname)) return;
        attribute.codec = toExactCodec(attribute.codec as PgCodec);
      },
    },
  },
  schema: {
    hooks: {
      init: {
        after: ["pg-standard-types"],
        before: ["PgCodecs"],
        callback(_, build) {
          for (const name of configs.keys())
            if (!build.getTypeMetaByName(name))
              build.registerScalarType(name, {}, () => ({}), "ValueTypesPlugin");
          for (const codec of build.allPgCodecs) {
            const { scalar } = codec.extensions ?? {};
            if (scalar) build.setGraphQLTypeForPgCodec(codec, ["input", "output"], scalar);
          }
          // A JSON number, exact up to 2^53; Int ends at 2^31
          for (const codec of [TYPES.numeric, TYPES.bigint])
            build.setGraphQLTypeForPgCodec(codec, ["input", "output"], "Float");
          return _;
        },
      },
      // The library has scalars of some of these names, which accept everything
      GraphQLScalarType: (config) => ({ ...config, ...configs.get(config.name) }),
    },
  },
};

const postgres = "https://www.postgresql.org/docs/18";
const rangeTypes = `${postgres}/rangetypes.html#RANGETYPES-IO`;

/** The specification of each scalar. */
const specifications: Readonly<Record<string, string>> = {
  DateTime: "https://www.rfc-editor.org/rfc/rfc3339#section-5.6",
  Date: "https://www.rfc-editor.org/rfc/rfc3339#section-5.6",
  Time: "https://www.rfc-editor.org/rfc/rfc3339#section-5.6",
  LocalDateTime: "https://www.w3.org/TR/xmlschema11-2/#dateTime",
  Duration: "https://www.rfc-editor.org/rfc/rfc3339#appendix-A",
  JSON: "https://www.rfc-editor.org/rfc/rfc8259",
  UUID: "https://www.rfc-editor.org/rfc/rfc9562",
  Base64: "https://www.rfc-editor.org/rfc/rfc4648#section-4",
  BigInt: `${postgres}/datatype-numeric.html#DATATYPE-INT`,
  Decimal: `${postgres}/datatype-numeric.html#DATATYPE-NUMERIC-DECIMAL`,
  InternetAddress: `${postgres}/datatype-net-types.html#DATATYPE-INET`,
  MacAddress: `${postgres}/datatype-net-types.html#DATATYPE-MACADDR`,
  IntRange: rangeTypes,
  BigIntRange: rangeTypes,
  DecimalRange: rangeTypes,
  DateRange: rangeTypes,
  LocalDateTimeRange: rangeTypes,
  DateTimeRange: rangeTypes,
};

/** Adds `@specifiedBy` to scalars. */
export const SpecifiedScalarsPlugin: GraphileConfig.Plugin = {
  name: "SpecifiedScalarsPlugin",
  description: "Adds `@specifiedBy` to scalars",
  schema: {
    hooks: {
      GraphQLScalarType: (config) => ({
        ...config,
        specifiedByURL: specifications[config.name] ?? config.specifiedByURL,
      }),
    },
  },
};
