import type {} from "postgraphile";

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

/** Versions that were frozen before scalars said what specifies them. */
export const unspecified: ReadonlySet<string> = new Set(["api_2026_06_unstable"]);

/** Adds `@specifiedBy` to scalars. */
export const SpecifiedScalarsPlugin: GraphileConfig.Plugin = {
  name: "SpecifiedScalarsPlugin",
  description: "Scalars say what specifies them",
  version: "1.0.0",
  schema: {
    hooks: {
      GraphQLScalarType: (config) => ({
        ...config,
        specifiedByURL: specifications[config.name] ?? config.specifiedByURL,
      }),
    },
  },
};
