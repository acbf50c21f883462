import type {} from "postgraphile";
import { getNamedType } from "postgraphile/graphql";
import { maximalPageSize } from "./connections.ts";
import { relationOf } from "./relations.ts";

/** A name in words: `destinationBinLocation` is "destination bin location". */
const inWords = (name: string): string => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();

const article = (words: string): string => (/^[aeiou]/.test(words) ? `an ${words}` : `a ${words}`);

const pageInfoFields: Readonly<Record<string, string>> = {
  hasNextPage: "Whether the list goes on after this page.",
  hasPreviousPage: "Whether the list has entries before this page.",
  startCursor: "Cursor of the first entry of the page; null when the page is empty.",
  endCursor:
    "Cursor of the last entry of the page, to be passed as `after` for the next one; null when the page is empty.",
};

function describeField(
  build: GraphileBuild.Build,
  owner: string,
  scope: GraphileBuild.ScopeObjectFieldsField,
  typeName: string,
): string | undefined {
  const { fieldName } = scope;
  const words = inWords(fieldName);
  if (scope.isPageInfo) return pageInfoFields[fieldName];
  if (scope.isRootNodeField)
    return "Anything with a global id, whatever its type; null when the caller may not read it.";
  if (scope.nodeAccessorTypeName) {
    return `The ${inWords(scope.nodeAccessorTypeName)} with this id; null when there is none that the caller may read.`;
  }
  if (scope.isRootQuery && scope.pgFieldResource) {
    const plural = build.inflection.pluralize(build.inflection.tableType(scope.pgFieldResource.codec));
    return `All ${inWords(plural)} that the caller may read, oldest first.`;
  }
  const stated = relationOf(scope)?.description;
  if (scope.isPgSingleRelationField) {
    const nullable = "Null when there is none, or none that the caller may read.";
    return stated ?? `The ${words} of the ${inWords(owner)}. ${nullable}`;
  }
  if (scope.isPgFieldConnection) return stated ?? `The ${words} of the ${inWords(owner)}, oldest first.`;
  if (scope.isConnectionEdgeType) {
    return fieldName === "cursor"
      ? "Position of the entry in the list, to be passed as `after`."
      : "The entry itself.";
  }
  if (scope.isConnectionType && fieldName === "edges") return "The entries of the page.";
  if (scope.isConnectionType && fieldName === "pageInfo") return "Where the page stands in the list.";
  // What is left are columns, which SQL describes. Ids speak for themselves.
  if (fieldName === "id") return `Global id of the ${inWords(owner)}: gid://service/${owner}/ and a uuid.`;
  const idOf = scope.pgFieldAttribute?.codec.extensions?.globalIdOf;
  if (idOf && typeName === "ID") return `Global id of the ${inWords(fieldName.replace(/Id$/, ""))}.`;
  return undefined;
}

const argumentDescriptions: Readonly<Record<string, string>> = {
  first: `How many entries the page has at most: 0 to ${maximalPageSize}.`,
  after:
    "Cursor of the entry after which the page begins, from the same list; without it, the page is the first.",
  id: "Global id, of the form gid://service/<Type>/<uuid>.",
};

/**
 * Describes what no SQL object stands for: root fields, relations, connections and their arguments. What stands in
 * SQL is described there, by comments.
 */
export const DescriptionsPlugin: GraphileConfig.Plugin = {
  name: "DescriptionsPlugin",
  description: "Describes generated types, fields and arguments in plain words",
  version: "1.0.0",
  schema: {
    hooks: {
      GraphQLObjectType(config, build, { scope }) {
        const { isConnectionType, isConnectionEdgeType, isPageInfo, isRootQuery, pgCodec } = scope;
        if (isRootQuery) config.description = "What can be read: each type by id and as a list.";
        if (isPageInfo) config.description = "Where a page stands in its list.";
        if ((isConnectionType || isConnectionEdgeType) && pgCodec) {
          const words = inWords(build.inflection.tableType(pgCodec));
          const plural = inWords(build.inflection.pluralize(build.inflection.tableType(pgCodec)));
          config.description = isConnectionType
            ? `A page of a list of ${plural}.`
            : `${article(words)} in a list, with its position.`.replace(/^a/, "A");
        }
        return config;
      },
      GraphQLInterfaceType(config) {
        if (config.name === "Node")
          config.description = "Anything that has a global id, by which it can be found again.";
        return config;
      },
      GraphQLInterfaceType_fields_field(field, _build, { Self, scope }) {
        if (Self.name === "Node" && scope.fieldName === "id") {
          field.description = "Global id: gid://service/ and type and uuid. It never changes.";
        }
        return field;
      },
      GraphQLScalarType(config) {
        if (config.name === "JSON")
          config.description = "Any JSON value: object, list, text, number, true, false or null.";
        return config;
      },
      GraphQLObjectType_fields_field(field, build, { Self, scope }) {
        const isColumn = scope.pgFieldAttribute !== undefined;
        const generated = describeField(build, Self.name, scope, getNamedType(field.type).name);
        const description = isColumn ? (field.description ?? generated) : (generated ?? field.description);
        if (description) field.description = description;
        return field;
      },
      GraphQLObjectType_fields_field_args_arg(argument, _build, { scope }) {
        const description = argumentDescriptions[scope.argName];
        const isOurs = scope.isPgFieldConnection || scope.isRootNodeField || scope.nodeAccessorTypeName;
        if (isOurs && description) argument.description = description;
        return argument;
      },
    },
  },
};
