import type { PgCodec, PgResource } from "postgraphile/@dataplan/pg";
import { maxPageSize } from "../src/graphql/page-size.ts";
import type { Tagged } from "./lib/tags.ts";
import { tagLines, tagText } from "./lib/tags.ts";
import type { FieldScope } from "./lib/views.ts";
import { findRelation } from "./lib/views.ts";

/** A name in words: `destinationBinLocation` is "destination bin location". */
const inWords = (name: string): string => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();

const article = (words: string): string => (/^[aeiou]/.test(words) ? `an ${words}` : `a ${words}`);

const pageInfoFields: Readonly<Record<string, string>> = {
  hasNextPage: "Whether the list has entries after this page.",
  hasPreviousPage: "Whether the list has entries before this page.",
  startCursor: "Cursor of the first entry of the page; null when the page is empty.",
  endCursor:
    "Cursor of the last entry of the page; null when the page is empty. Pass it as `after` to get the next page.",
};

/** The plural of a type in words: StockMovement becomes "stock movements". */
const pluralInWords = (build: GraphileBuild.Build, typeName: string): string =>
  inWords(build.inflection.pluralize(typeName));

/** Returns the description of a name, from a comment's line such as `@describe customers Who buys here.` */
const findDescription = (thing: Tagged, name: string): string | undefined =>
  tagLines(thing, "describe")
    .find((line) => line.startsWith(`${name} `))
    ?.slice(name.length + 1);

/** Returns the description of a field, from the view's comment. */
function findStatedDescription({
  pgRelationDetails,
  pgRefDetails,
  pgFieldResource,
  fieldName,
}: FieldScope): string | undefined {
  const { codec } = (pgRelationDetails ?? pgRefDetails ?? pgFieldResource) as { codec: PgCodec };
  return findDescription(codec, fieldName);
}

function describeRelation(build: GraphileBuild.Build, owner: string, scope: FieldScope): string {
  const stated = findStatedDescription(scope) ?? findRelation(scope)?.description;
  if (stated) return stated;
  const words = inWords(scope.fieldName);
  const relation = findRelation(scope);
  const backwardField = relation?.isReferencee ? tagText(relation, "fieldName") : undefined;
  const condition = backwardField ? `whose \`${backwardField}\` is this` : "of the";
  if (scope.isPgSingleRelationField && relation?.isReferencee) {
    return `The ${words} ${condition} ${inWords(owner)}. Also null if the caller may not read it.`;
  }
  if (scope.isPgSingleRelationField) {
    const column = relation?.localCodec.attributes[relation.localAttributes[0]!];
    const about = column?.description ?? `The ${words} of the ${inWords(owner)}.`;
    return `${about} Also null if the caller may not read it.`;
  }
  const { codec: target } = (relation?.remoteResource ?? scope.pgFieldResource) as PgResource;
  const entries = pluralInWords(build, build.inflection.tableType(target));
  return `The ${entries} ${condition} ${inWords(owner)}, oldest first.`;
}

function describeField(build: GraphileBuild.Build, owner: string, scope: FieldScope): string | undefined {
  const { fieldName } = scope;
  if (scope.readFunction) return scope.readFunction.resource.description ?? `The ${inWords(fieldName)}.`;
  if (scope.isPageInfo) return pageInfoFields[fieldName];
  if (scope.isSubscription) return "Each new entry of the log, after its commit.";
  if (scope.isRootNodeField)
    return "The object with this global id, of any type; null when there is none that the caller may read.";
  if (scope.nodeAccessorTypeName) {
    return `The ${inWords(scope.nodeAccessorTypeName)} with this id; null when there is none that the caller may read.`;
  }
  if (scope.isRootQuery && scope.pgFieldResource) {
    const typeName = build.inflection.tableType(scope.pgFieldResource.codec as PgCodec);
    const stated = findStatedDescription(scope);
    return stated ?? `All ${pluralInWords(build, typeName)} that the caller may read, oldest first.`;
  }
  if (scope.isPgSingleRelationField || scope.isPgFieldConnection)
    return describeRelation(build, owner, scope);
  if (scope.isConnectionEdgeType) {
    return fieldName === "cursor"
      ? "Position of the entry in the list. Pass it as `after` to get the entries that follow."
      : "The entry itself.";
  }
  if (scope.isConnectionType && fieldName === "edges") return "The entries of the page.";
  if (scope.isConnectionType && fieldName === "pageInfo") return "Position of the page in the list.";
  // The remaining fields are columns, which SQL describes. Ids need no description.
  if (fieldName === "id" && scope.pgFieldAttribute)
    return `Global id of the ${inWords(owner)}: gid://service/${owner}/<uuid>.`;
  if ((scope.pgFieldAttribute?.codec as PgCodec | undefined)?.extensions?.globalIdOf) {
    return `Global id of the ${inWords(fieldName.replace(/Id$/, ""))}.`;
  }
  return undefined;
}

/** Returns the description of a function's argument, from its comment. */
function describeArgument({
  readFunction,
  argName,
}: GraphileBuild.ScopeObjectFieldsFieldArgsArg): string | undefined {
  const argument = readFunction?.call.arguments.find(({ fieldName }) => fieldName === argName);
  if (!argument) return undefined;
  return findDescription(readFunction!.resource, argument.name) ?? `The ${inWords(argName)}.`;
}

const argumentDescriptions: Readonly<Record<string, string>> = {
  first: `Maximum number of entries on the page: 0 to ${maxPageSize}.`,
  after:
    "Cursor from the same list. The page begins after its entry; without a cursor, at the start of the list.",
  last: `Maximum number of entries on the page, counted from the end: 0 to ${maxPageSize}. Not together with \`first\`.`,
  before:
    "Cursor from the same list and sort order. The page ends before its entry; without `first` or `last`, it is the page right before it.",
  orderBy: "Sort order of the list. A cursor is valid only for the sort order that it came from.",
  id: "Global id, of the form gid://service/<Type>/<uuid>.",
};

const subscriptionArguments: Readonly<Record<string, string>> = {
  topics: "Topics of the events to send; without it, all topics that the caller may read.",
  after:
    "Cursor from the list of the same name. The subscription begins after its entry; without a cursor, with the next new entry.",
};

/**
 * Describes fields without an SQL object of their own: root fields, relations, connections and their arguments. Comments
 * in SQL describe all others. A view's comment can replace the generated description of a relation or list:
 * `@describe customers Who buys here.`
 */
export const DescriptionsPlugin: GraphileConfig.Plugin = {
  name: "DescriptionsPlugin",
  description: "Describes generated types, fields and arguments in plain words",
  schema: {
    hooks: {
      GraphQLObjectType(config, build, { scope }) {
        const { isConnectionType, isConnectionEdgeType, isPageInfo, isRootQuery, isRootMutation, pgCodec } =
          scope;
        if (isRootQuery) config.description = "Root type of queries: each type by id and as a list.";
        if (isRootMutation)
          config.description = "Root type of mutations. A mutation does all that its input says, or nothing.";
        if (scope.isRootSubscription)
          config.description = "Root type of subscriptions. Request their events as text/event-stream.";
        if (isPageInfo) config.description = "Position of a page in its list.";
        if ((isConnectionType || isConnectionEdgeType) && pgCodec) {
          const words = inWords(build.inflection.tableType(pgCodec));
          const plural = pluralInWords(build, build.inflection.tableType(pgCodec));
          config.description = isConnectionType
            ? `A page of a list of ${plural}.`
            : `${article(words)} in a list, with its position.`.replace(/^a/, "A");
        }
        return config;
      },
      GraphQLInterfaceType(config) {
        if (config.name === "Node")
          config.description = "An object with a global id, by which it can be looked up.";
        return config;
      },
      GraphQLInterfaceType_fields_field(field, _build, { Self, scope }) {
        if (Self.name === "Node" && scope.fieldName === "id") {
          field.description = "Global id: gid://service/<Type>/<uuid>. It never changes.";
        }
        return field;
      },
      GraphQLScalarType(config) {
        if (config.name === "JSON")
          config.description = "Any JSON value: object, array, string, number, true, false or null.";
        return config;
      },
      GraphQLObjectType_fields_field(field, build, { Self, scope }) {
        const isColumn = scope.pgFieldAttribute !== undefined;
        const generated = describeField(build, Self.name, scope);
        const description = isColumn ? (field.description ?? generated) : (generated ?? field.description);
        if (description) field.description = description;
        return field;
      },
      GraphQLObjectType_fields_field_args_arg(argument, _build, { scope }) {
        const description = argumentDescriptions[scope.argName];
        const called = describeArgument(scope);
        if (called) argument.description = called;
        const ofSubscription = scope.isSubscription && subscriptionArguments[scope.argName];
        if (ofSubscription) argument.description = ofSubscription;
        const isOurs = scope.isPgFieldConnection || scope.isRootNodeField || scope.nodeAccessorTypeName;
        if (isOurs && description) argument.description = description;
        return argument;
      },
    },
  },
};
