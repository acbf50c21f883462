import type {} from "postgraphile";
import type { PgCodec, PgCodecAnyScalar, PgCodecWithAttributes, PgResource } from "postgraphile/@dataplan/pg";
import { isEnumCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { GraphQLInputFieldConfigMap, GraphQLInputType } from "postgraphile/graphql";
import { GraphQLBoolean, GraphQLList, GraphQLNonNull } from "postgraphile/graphql";
import type { FilterColumn } from "../../src/reads/filter-conditions.ts";
import type { Operator } from "../../src/reads/filter-operators.ts";
import {
  enumOperators,
  keyOperators,
  operators,
  operatorsOfScalar,
} from "../../src/reads/filter-operators.ts";
import { apiError } from "../../src/errors/api-error.ts";
import { requireKey } from "../../src/graphql/global-id.ts";
import { orderOf, rowOf } from "../../src/reads/keys.ts";
import { requirementOf } from "../scopes.ts";
import { keyOfResource } from "./keys.ts";
import { tagText } from "./tags.ts";

/** A column with the GraphQL type of its values. */
export interface TypedColumn extends FilterColumn {
  typeName: string;
}

/** Operators for a GraphQL type, or undefined when its values can't be filtered. */
function operatorsFor(codec: PgCodec, typeName: string): Record<string, Operator> | undefined {
  // Its values can't be given
  if (codec.extensions?.pgType === "other") return undefined;
  const isEnum = isEnumCodec(codec) || codec.extensions?.enumOfText !== undefined;
  const names = isEnum ? enumOperators : operatorsOfScalar[typeName];
  return names && Object.fromEntries(names.map((name) => [name, operators[name]]));
}

/** Name of the scalar or enum for an SQL type; "" for lists and composites. */
function typeNameOf(build: GraphileBuild.Build, codec: PgCodec): string {
  if (codec.arrayOfCodec || codec.attributes) return "";
  return build.getGraphQLTypeNameByPgCodec(codec, "input") ?? "";
}

/** A Float that is compared with a bigint. */
const wholeFloat: PgCodec = {
  ...(TYPES.bigint as PgCodec),
  name: "wholeFloat",
  toPg(value: number) {
    if (Number.isSafeInteger(value)) return String(value);
    throw apiError("BAD_USER_INPUT", `${value} is no whole number up to 2^53.`);
  },
};

/** A smallint is compared as an integer, so that a larger value is merely not found. */
const operandOf = (codec: PgCodec): PgCodec =>
  codec === TYPES.int2 ? TYPES.int : codec === TYPES.bigint ? wholeFloat : codec;

/** The columns that the filter of a view looks at: its id, and those that the tag @filters names. */
export function columnsOf(build: GraphileBuild.Build, resource: PgResource): Map<string, TypedColumn> {
  const codec = resource.codec as PgCodecWithAttributes;
  const wanted = tagText(codec, "filters") ?? "";
  const names = wanted.split(/[\s,]+/).filter(Boolean);
  const missing = names.find((name) => name !== "*" && !codec.attributes[name]);
  if (missing) throw new Error(`@filters of ${codec.name}: no column ${missing}`);
  const columns = new Map<string, TypedColumn>();
  for (const [name, attribute] of Object.entries(codec.attributes)) {
    const named = name === "id" || names.includes(name);
    if (!named && !names.includes("*")) continue;
    if (!build.behavior.pgCodecAttributeMatches([codec, name], "attribute:select")) continue;
    const typeName = typeNameOf(build, attribute.codec);
    // A column with its own scopes is left out, because comparisons would reveal its values.
    const offered = requirementOf(attribute) ? undefined : operatorsFor(attribute.codec, typeName);
    if (!offered && named)
      throw new Error(`@filters of ${codec.name}: ${name} has no filter: wrong type, or scopes of its own`);
    if (!offered) continue;
    const operandCodec = operandOf(attribute.codec) as PgCodecAnyScalar;
    const fieldName = build.inflection.attribute({ codec, attributeName: name });
    const made = { name, codec: operandCodec, operators: offered, typeName };
    const { expression } = attribute;
    const isKey = expression !== undefined && attribute.codec.extensions?.globalIdOf !== undefined;
    columns.set(
      fieldName,
      isKey ? { ...made, ...ofKey(build, resource) } : expression ? { ...made, expression } : made,
    );
  }
  return columns;
}

/** What an id is compared by that is worked out of the columns of the key. */
function ofKey(
  build: GraphileBuild.Build,
  resource: PgResource,
): Pick<TypedColumn, "expression" | "operators"> {
  const key = keyOfResource(resource)!;
  const typeName = build.inflection.tableType(resource.codec);
  return {
    expression: (rows) => rowOf(orderOf(key, rows)),
    operators: keyOperators(key, (id) => requireKey(typeName, key, id)),
  };
}

/** Makes the filter input of a type, for example `ProductFilterInput`. */
export function registerFilterInput(
  build: GraphileBuild.Build,
  codec: PgCodec,
  columns: ReadonlyMap<string, TypedColumn>,
): void {
  const name = `${build.inflection.tableType(codec)}FilterInput`;
  build.registerInputObjectType(
    name,
    { pgCodec: codec },
    () => ({
      description: "Conditions that must all hold. An empty filter holds for everything.",
      fields: () => {
        const self = build.getInputTypeByName(name);
        const list = new GraphQLList(new GraphQLNonNull(self));
        const fields: GraphQLInputFieldConfigMap = {};
        for (const [fieldName, { typeName, name: column }] of columns) {
          const about = codec.attributes?.[column]?.description;
          fields[fieldName] = {
            type: build.getInputTypeByName(`${typeName}Filter`),
            description: `Condition on \`${fieldName}\`${about ? `: ${about}` : "."}`,
          };
        }
        return {
          ...fields,
          AND: { type: list, description: "Filters that must all hold. An empty list holds for everything." },
          OR: {
            type: list,
            description: "Filters of which one must hold. An empty list holds for everything.",
          },
          NOT: {
            type: self,
            description:
              "A filter that must not hold. Where it compares with null it neither holds nor fails, as in SQL.",
          },
        };
      },
    }),
    "FiltersPlugin",
  );
}

/** Makes the filter input of a scalar or enum, for example `IntFilter`. */
export function registerScalarFilter(
  build: GraphileBuild.Build,
  typeName: string,
  offered: Record<string, Operator>,
): void {
  build.registerInputObjectType(
    `${typeName}Filter`,
    {},
    () => ({
      description: `Comparisons of a value of type ${typeName}, which must all hold.`,
      fields: () => {
        const type = build.getInputTypeByName(typeName);
        const operandTypes: Record<Operator["operand"], GraphQLInputType> = {
          value: type,
          list: new GraphQLList(new GraphQLNonNull(type)),
          flag: GraphQLBoolean,
        };
        return Object.fromEntries(
          Object.entries(offered).map(([name, { operand, description }]) => [
            name,
            { type: operandTypes[operand], description },
          ]),
        );
      },
    }),
    "FiltersPlugin",
  );
}
