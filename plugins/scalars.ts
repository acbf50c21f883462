import type { PgCodec } from "postgraphile/@dataplan/pg";
import { TYPES } from "postgraphile/@dataplan/pg";
import { Kind, print } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { apiError } from "../src/errors/api-error.ts";
import { parseDateTime } from "./lib/date-time.ts";

const timestamptzOid = "1184";
const format = sql.literal('YYYY-MM-DD"T"HH24:MI:SS"+00:00"');

const inUtc = (moment: SQL): SQL => sql`to_char((${moment}) at time zone 'UTC', ${format}::text)`;

/** Postgres prints moments in UTC itself, so that answers don't depend on the session's time zone. */
const dateTimeCodec: PgCodec = {
  name: "dateTime",
  sqlType: TYPES.timestamptz.sqlType,
  castFromPg: inUtc,
  listCastFromPg(list) {
    const moment = sql.identifier(Symbol("moment"));
    const texts = sql`array(select ${inUtc(moment)} from unnest(${list}) ${moment})::text`;
    return sql`(case when ${list} is null then null else ${texts} end)`;
  },
  fromPg: (value: string) => value,
  toPg: (value: string) => value,
  attributes: undefined,
  executor: null,
  hasNaturalEquality: true,
  hasNaturalOrdering: true,
  extensions: { oid: timestamptzOid, pgType: "timestamptz" },
};

/** Levels of lists and objects in JSON. What reads them calls itself for each level, also in Postgres. */
const maxLevels = 200;

/**
 * A value of JSON that was given as a variable, or in a file. A number beyond those of floating point is infinite by now, and
 * would be written as null.
 */
function parseJson(value: unknown, levels = 0): unknown {
  if (value === Infinity || value === -Infinity)
    throw apiError("BAD_USER_INPUT", "A number of JSON is too large for one of floating point.");
  if (typeof value !== "object" || value === null) return value;
  if (levels === maxLevels)
    throw apiError("BAD_USER_INPUT", `JSON is nested deeper than ${maxLevels} levels.`);
  for (const part of Object.values(value)) parseJson(part, levels + 1);
  return value;
}

/** GraphQL scalars for SQL types for which PostGraphile chooses another one. */
export const ScalarsPlugin: GraphileConfig.Plugin = {
  name: "ScalarsPlugin",
  description: "timestamptz is DateTime; numeric and bigint are Float",
  before: ["PgCodecsPlugin"],
  gather: {
    hooks: {
      pgCodecs_findPgCodec(_info, event) {
        if (event.pgType._id === timestamptzOid) event.pgCodec ??= dateTimeCodec;
      },
    },
  },
  schema: {
    hooks: {
      GraphQLScalarType: (config) =>
        config.name === "JSON" ? { ...config, parseValue: (value) => parseJson(value) } : config,
      init: {
        before: ["PgCodecs"],
        callback(_, build) {
          build.registerScalarType(
            "DateTime",
            {},
            () => ({
              description:
                "A moment, as an RFC 3339 text such as `2026-06-30T08:15:00+00:00`. " +
                "Answers are in UTC, to the second. Inputs may have any offset, or `Z`.",
              serialize: (value) => value,
              parseValue: parseDateTime,
              parseLiteral: (node) => parseDateTime(node.kind === Kind.STRING ? node.value : print(node)),
            }),
            "ScalarsPlugin",
          );
          build.setGraphQLTypeForPgCodec(dateTimeCodec, ["input", "output"], "DateTime");
          build.setGraphQLTypeForPgCodec(TYPES.numeric, ["input", "output"], "Float");
          // A JSON number, exact up to 2^53; Int ends at 2^31
          build.setGraphQLTypeForPgCodec(TYPES.bigint, ["input", "output"], "Float");
          return _;
        },
      },
    },
  },
};

const postgres = "https://www.postgresql.org/docs/18";
const ranges = `${postgres}/rangetypes.html#RANGETYPES-IO`;

/** Of each scalar, what specifies its texts. */
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
  IntRange: ranges,
  BigIntRange: ranges,
  DecimalRange: ranges,
  DateRange: ranges,
  LocalDateTimeRange: ranges,
  DateTimeRange: ranges,
};

/** Adds `@specifiedBy` to scalars. */
export const SpecifiedScalarsPlugin: GraphileConfig.Plugin = {
  name: "SpecifiedScalarsPlugin",
  description: "Scalars say what specifies them",
  schema: {
    hooks: {
      GraphQLScalarType: (config) => ({
        ...config,
        specifiedByURL: specifications[config.name] ?? config.specifiedByURL,
      }),
    },
  },
};
