import type { PgCodec, PgEnumCodec } from "postgraphile/@dataplan/pg";
import { isEnumCodec, TYPES } from "postgraphile/@dataplan/pg";
import { memoizeByObject } from "../src/lib/remembered.ts";
import { tagLines, tagText } from "./lib/tags.ts";

declare global {
  namespace DataplanPg {
    interface PgCodecExtensions {
      /** The enum that clients see instead of the text. */
      enumOfText?: PgEnumCodec;
    }
  }
}

/** The codec of all text columns of one enum. */
const textEnumCodec = memoizeByObject((enumCodec: PgEnumCodec): PgCodec => ({
  ...TYPES.text,
  name: `${enumCodec.name}Text`,
  hasNaturalOrdering: false,
  extensions: { enumOfText: enumCodec, pgType: "text" },
}));

/** Reads the lines `@value Open No work has begun.` of the type's comment as descriptions of the values. */
function describeValues(codec: PgEnumCodec): void {
  const descriptions = new Map<string, string>();
  for (const line of tagLines(codec, "value")) {
    const [value = "", ...words] = line.split(/\s+/);
    descriptions.set(value, words.join(" "));
  }
  for (const value of codec.values) {
    const description = descriptions.get(value.value);
    if (description) value.description = description;
  }
}

/** Turns a label into a GraphQL name: letters lose their accents, and other characters become underscores. */
function toGraphQLName(label: string): string {
  if (/^[_A-Za-z]\w*$/.test(label) && !/^(__|(true|false|null)$)/.test(label)) return label;
  const plain = label
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replaceAll("ß", "ss")
    .replace(/[^A-Za-z0-9]+/g, "_");
  const trimmed = plain.replace(/^_+|_+$/g, "");
  const codes = () => Array.from(label, (sign) => `u${sign.codePointAt(0)!.toString(16)}`).join("_");
  const name = trimmed === "" ? codes() || "EMPTY" : trimmed;
  return /^(\d|(true|false|null)$)/.test(name) ? `_${name}` : name;
}

function requireDistinctNames(build: GraphileBuild.Build, codec: PgEnumCodec): void {
  const labels = new Map<string, string>();
  for (const { value } of codec.values) {
    const name = build.inflection.enumValue(value, codec);
    const other = labels.get(name);
    if (other !== undefined)
      throw new Error(
        `The enum ${codec.name}: its labels "${other}" and "${value}" would have the same name, ${name}`,
      );
    labels.set(name, value);
  }
}

/**
 * Shows text columns with the tag `@enum order_state` as the GraphQL enum of the Postgres enum type of that name in the
 * same schema. SQL keeps the text: with a cast in the view, Postgres could not use the index on the table's column.
 */
export const EnumColumnsPlugin: GraphileConfig.Plugin = {
  name: "EnumColumnsPlugin",
  description: "Shows text columns with the tag @enum as GraphQL enums, and describes the values of enums",
  inflection: {
    replace: {
      enumValue(previous, _preset, value, codec) {
        return toGraphQLName(previous!(value, codec));
      },
    },
  },
  gather: {
    hooks: {
      async pgCodecs_attribute(info, { serviceName, pgClass, pgAttribute, attribute }) {
        const enumName = tagText(attribute, "enum");
        if (!enumName) return;
        const column = `${pgClass.relname}.${pgAttribute.attname}`;
        if (attribute.codec !== TYPES.text) throw new Error(`${column} has the tag @enum but isn't text`);
        const schema = pgClass.getNamespace()!.nspname;
        const type = await info.helpers.pgIntrospection.getTypeByName(serviceName, schema, enumName);
        const enumCodec = type && (await info.helpers.pgCodecs.getCodecFromType(serviceName, type._id));
        if (!enumCodec || !isEnumCodec(enumCodec))
          throw new Error(`${column}: no enum type ${schema}.${enumName}`);
        attribute.codec = textEnumCodec(enumCodec);
      },
      pgCodecs_PgCodec(_info, { pgCodec }) {
        if (isEnumCodec(pgCodec)) describeValues(pgCodec);
      },
    },
  },
  schema: {
    hooks: {
      init: {
        before: ["PgCodecs"],
        callback(_, build) {
          for (const codec of build.allPgCodecs) if (isEnumCodec(codec)) requireDistinctNames(build, codec);
          // The library would do the same later, which is too late to name the type for the text codec.
          for (const codec of build.allPgCodecs) {
            const enumCodec = codec.extensions?.enumOfText;
            if (!enumCodec) continue;
            const typeName = build.inflection.enumType(enumCodec);
            const values = enumCodec.values.map(
              ({ value, description }) =>
                [build.inflection.enumValue(value, enumCodec), { value, description }] as const,
            );
            build.registerEnumType(
              typeName,
              { pgCodec: enumCodec },
              () => ({ description: enumCodec.description, values: Object.fromEntries(values) }),
              "EnumColumnsPlugin",
            );
            build.setGraphQLTypeForPgCodec(codec, ["input", "output"], typeName);
            build.setGraphQLTypeForPgCodec(enumCodec, ["input", "output"], typeName);
          }
          return _;
        },
      },
    },
  },
};
