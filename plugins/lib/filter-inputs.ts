import type { PgCodec, PgCodecAnyScalar, PgCodecWithAttributes, PgResource } from "postgraphile/@dataplan/pg";
import { isEnumCodec, listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { GraphQLInputFieldConfigMap, GraphQLInputType } from "postgraphile/graphql";
import { GraphQLBoolean, GraphQLList, GraphQLNonNull, GraphQLString } from "postgraphile/graphql";
import type { FilterColumn } from "../../src/reads/filter-conditions.ts";
import type { Operator } from "../../src/reads/operator.ts";
import { getElementCodec } from "../../src/reads/codecs.ts";
import {
  getContainerOperators,
  enumOperators,
  operators,
  scalarOperators,
  withTypeEquality,
} from "../../src/reads/filter-operators.ts";
import { keyOperators } from "../../src/reads/key-operators.ts";
import { apiError } from "../../src/errors/api-error.ts";
import { requireKey } from "../../src/graphql/global-id.ts";
import { buildKeyColumns, buildRowValue } from "../../src/reads/keys.ts";
import { readRequirement } from "../scopes.ts";
import { primaryKeyOf } from "./view-keys.ts";
import type { Tagged } from "./tags.ts";
import { hasTag, tagLines, tagText, splitWords } from "./tags.ts";
import { fieldNameOf } from "./views.ts";

/** The type of a column's values in GraphQL. */
export interface ValueType {
  /** Its name. For a list it is its elements' type with `List`, which isn't a GraphQL type. */
  typeName: string;
  /** Name of the type of a list's elements, or of a range's bounds. */
  elementName: string | undefined;
}

/** A column with the GraphQL type of its values. */
export interface TypedColumn extends FilterColumn, ValueType {
  /** See `GraphQLInputFieldExtensions`. */
  indexes: readonly (readonly string[])[] | undefined;
}

/** Returns the indexes that begin with a column, from tags that are derived in `unstable`; undefined in other versions. */
function findIndexes(
  build: GraphileBuild.Build,
  resource: PgResource,
  name: string,
): readonly (readonly string[])[] | undefined {
  const codec = resource.codec as PgCodecWithAttributes;
  const attributes: Record<string, Tagged> = codec.attributes;
  if (!Object.values(attributes).some((each) => hasTag(each, "indexed"))) return undefined;
  const key = (primaryKeyOf(resource) ?? []).map((column) => column.name);
  const ordered = tagLines(attributes[name], "orders").map((line) => [
    ...new Set([name, ...splitWords(line), ...key]),
  ]);
  const isFound =
    name === "id" || hasTag(attributes[name], "indexed") || hasTag(attributes[name], "foundExactly");
  const found = ordered.length > 0 ? ordered : isFound ? [[name]] : [];
  return found.map((names) => names.map((column) => fieldNameOf(build, codec, column)));
}

/** Returns the operators for a GraphQL type; undefined if its values can't be filtered. */
function findOperators(codec: PgCodec, { typeName }: ValueType): Record<string, Operator> | undefined {
  // Clients can't pass its values
  if ((getElementCodec(codec) ?? codec).extensions?.pgType === "other") return undefined;
  const container = getContainerOperators(codec);
  if (container) return typeName === "" ? undefined : container;
  const isEnum = isEnumCodec(codec) || codec.extensions?.enumOfText !== undefined;
  const names = isEnum ? enumOperators : scalarOperators[typeName];
  return names && withTypeEquality(Object.fromEntries(names.map((name) => [name, operators[name]])), codec);
}

/** Returns the scalar or enum for an SQL type; "" for composites, and for lists whose elements can't be compared. */
function findValueType(build: GraphileBuild.Build, codec: PgCodec): ValueType {
  const nameOf = (one: PgCodec) =>
    one.attributes || one.arrayOfCodec ? "" : (build.getGraphQLTypeNameByPgCodec(one, "input") ?? "");
  const element = getElementCodec(codec);
  if (!element) {
    const { bound } = codec.extensions ?? {};
    return { typeName: nameOf(codec), elementName: bound && (bound.extensions?.scalar ?? nameOf(bound)) };
  }
  const elementName = nameOf(element);
  const isComparable = elementName !== "" && elementName !== "JSON";
  return { typeName: isComparable ? `${elementName}List` : "", elementName };
}

/** The codec of a Float that is compared with a bigint. */
const wholeFloat: PgCodec = {
  ...(TYPES.bigint as PgCodec),
  name: "wholeFloat",
  toPg(value: number) {
    if (Number.isSafeInteger(value)) return String(value);
    throw apiError("BAD_USER_INPUT", `${value} is not an integer up to 2^53.`);
  },
};

/** Returns the codec of a column's operands. A smallint is compared as an integer: a larger value is merely not found. */
function operandCodecOf(codec: PgCodec): PgCodec {
  if (getElementCodec(codec) === TYPES.bigint) return listOfCodec(wholeFloat as PgCodecAnyScalar);
  return codec === TYPES.int2 ? TYPES.int : codec === TYPES.bigint ? wholeFloat : codec;
}

/**
 * Returns the columns of a view's filter: its id, columns that the tag @filters names, and columns with the tags @indexed
 * or `@foundExactly unique`. Texts with the latter are compared like ids, unless @filters names them.
 */
export function readFilterColumns(
  build: GraphileBuild.Build,
  resource: PgResource,
): Map<string, TypedColumn> {
  const codec = resource.codec as PgCodecWithAttributes;
  const wanted = tagText(codec, "filters") ?? "";
  const names = splitWords(wanted);
  const missing = names.find((name) => name !== "*" && !codec.attributes[name]);
  if (missing) throw new Error(`@filters of ${codec.name}: no column ${missing}`);
  const columns = new Map<string, TypedColumn>();
  for (const [name, attribute] of Object.entries(codec.attributes)) {
    const named = name === "id" || names.includes(name);
    const isListed = named || names.includes("*");
    const isIndexed = hasTag(attribute as Tagged, "indexed");
    const isLikeId =
      !isListed && !isIndexed && tagLines(attribute as Tagged, "foundExactly").includes("unique");
    if (!isListed && !isIndexed && !isLikeId) continue;
    if (!build.behavior.pgCodecAttributeMatches([codec, name], "attribute:select")) continue;
    const ownType = findValueType(build, attribute.codec);
    const type = isLikeId && ownType.typeName === "String" ? { ...ownType, typeName: "ID" } : ownType;
    // Filters of lists and JSON came later than `*`, which must not add them to existing views
    if (!named && !type.typeName.endsWith("Range") && getContainerOperators(attribute.codec)) continue;
    // A column with its own scopes is left out, because comparisons would reveal its values.
    const offered = readRequirement(attribute) ? undefined : findOperators(attribute.codec, type);
    if (!offered && named)
      throw new Error(`@filters of ${codec.name}: ${name} has no filter: wrong type, or scopes of its own`);
    if (!offered) continue;
    const operandCodec = operandCodecOf(attribute.codec) as PgCodecAnyScalar;
    const fieldName = fieldNameOf(build, codec, name);
    const indexes = findIndexes(build, resource, name);
    const made = { name, codec: operandCodec, operators: offered, indexes, ...type };
    const { expression } = attribute;
    const isKey = expression !== undefined && attribute.codec.extensions?.globalIdOf !== undefined;
    columns.set(
      fieldName,
      isKey ? { ...made, ...compareByKey(build, resource) } : expression ? { ...made, expression } : made,
    );
  }
  return columns;
}

/** Returns the expression and operators of an id that is computed from the columns of the key. */
function compareByKey(
  build: GraphileBuild.Build,
  resource: PgResource,
): Pick<TypedColumn, "expression" | "operators"> {
  const key = primaryKeyOf(resource)!;
  const typeName = build.inflection.tableType(resource.codec);
  return {
    expression: (rows) => buildRowValue(buildKeyColumns(key, rows)),
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
    { pgCodec: codec, filteredRows: codec },
    () => ({
      description: "Conditions that must all hold. An empty filter matches everything.",
      fields: () => {
        const self = build.getInputTypeByName(name);
        const list = new GraphQLList(new GraphQLNonNull(self));
        const fields: GraphQLInputFieldConfigMap = {};
        for (const [fieldName, { typeName, name: column, indexes }] of columns) {
          const about = codec.attributes?.[column]?.description;
          fields[fieldName] = {
            type: build.getInputTypeByName(`${typeName}Filter`),
            description: `Condition on \`${fieldName}\`${about ? `: ${about}` : "."}`,
            extensions: indexes ? { indexes } : {},
          };
        }
        return {
          ...fields,
          AND: { type: list, description: "Filters that must all match. An empty list matches everything." },
          OR: {
            type: list,
            description: "Filters of which at least one must match. An empty list matches everything.",
          },
          NOT: {
            type: self,
            description:
              "A filter that must not match. A comparison with null neither matches nor fails, as in SQL.",
          },
        };
      },
    }),
    "FiltersPlugin",
  );
}

/** Makes the filter input of a scalar or enum, for example `IntFilter`, or of lists of one, `IntListFilter`. */
export function registerScalarFilter(
  build: GraphileBuild.Build,
  { typeName, elementName }: ValueType,
  offered: Record<string, Operator>,
): void {
  const isList = elementName !== undefined && typeName === `${elementName}List`;
  build.registerInputObjectType(
    `${typeName}Filter`,
    {},
    () => ({
      description: isList
        ? `Comparisons of a list of values of type ${elementName}, which must all hold.`
        : `Comparisons of a value of type ${typeName}, which must all hold.`,
      fields: () => {
        const typed = (name: string) => build.getInputTypeByName(name);
        const listed = (type: GraphQLInputType) => new GraphQLList(new GraphQLNonNull(type));
        const operandTypes: Record<Operator["operand"], () => GraphQLInputType> = {
          value: () => typed(typeName),
          list: () => listed(typed(typeName)),
          flag: () => GraphQLBoolean,
          text: () => GraphQLString,
          element: () => typed(elementName!),
          elements: () => listed(typed(elementName!)),
        };
        return Object.fromEntries(
          Object.entries(offered).map(([name, { operand, description }]) => [
            name,
            { type: operandTypes[operand](), description },
          ]),
        );
      },
    }),
    "FiltersPlugin",
  );
}
