import type {} from "postgraphile";
import type { PgCodec, PgCodecAnyScalar, PgCodecWithAttributes } from "postgraphile/@dataplan/pg";
import { isEnumCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { GraphQLInputFieldConfigMap, GraphQLInputType } from "postgraphile/graphql";
import { GraphQLBoolean, GraphQLList, GraphQLNonNull } from "postgraphile/graphql";
import type { FilterColumn } from "../../src/reads/filter-conditions.ts";
import type { Operator } from "../../src/reads/filter-operators.ts";
import { enumOperators, operators, operatorsOfScalar } from "../../src/reads/filter-operators.ts";
import { requirementOf } from "../scopes.ts";
import { tagText } from "./tags.ts";

/** A column with the GraphQL type of its values. */
export interface TypedColumn extends FilterColumn {
  typeName: string;
}

/** Operators for a GraphQL type, or undefined when its values can't be filtered. */
function operatorsFor(codec: PgCodec, typeName: string): Record<string, Operator> | undefined {
  const isEnum = isEnumCodec(codec) || codec.extensions?.enumOfText !== undefined;
  const names = isEnum ? enumOperators : operatorsOfScalar[typeName];
  return names && Object.fromEntries(names.map((name) => [name, operators[name]]));
}

/** Name of the scalar or enum for an SQL type; "" for lists and composites. */
function typeNameOf(build: GraphileBuild.Build, codec: PgCodec): string {
  if (codec.arrayOfCodec || codec.attributes) return "";
  return build.getGraphQLTypeNameByPgCodec(codec, "input") ?? "";
}

/** The columns that the filter of a view offers: its id, and those in the tag @filters. */
export function columnsOf(
  build: GraphileBuild.Build,
  codec: PgCodecWithAttributes,
): Map<string, TypedColumn> {
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
    // A smallint is compared as an integer, so that a larger value is not found instead of refused.
    const operandCodec = (attribute.codec === TYPES.int2 ? TYPES.int : attribute.codec) as PgCodecAnyScalar;
    const fieldName = build.inflection.attribute({ codec, attributeName: name });
    columns.set(fieldName, { name, codec: operandCodec, operators: offered, typeName });
  }
  return columns;
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
