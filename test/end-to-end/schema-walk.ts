import { readFileSync } from "node:fs";
import {
  getNamedType,
  Kind,
  GraphQLNonNull,
  GraphQLObjectType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  buildSchema,
} from "postgraphile/graphql";
import type { GraphQLField, GraphQLSchema } from "postgraphile/graphql";

/** The committed schema of a version. */
export function committedSchema(slug: string): GraphQLSchema {
  return buildSchema(readFileSync(new URL(`../../schema/${slug}.graphql`, import.meta.url), "utf8"));
}

/** A type whose rows can be listed, and its root fields. */
export interface Listed {
  type: GraphQLObjectType;
  /** The root field of its list, and that of one object. */
  list: string;
  single: string;
}

/** All entity types, by the root fields of the schema. */
export function listedTypes(schema: GraphQLSchema): Listed[] {
  const fields = Object.values(schema.getQueryType()!.getFields());
  // Lists that need an argument are calculated: their rows have no root field of their own
  const lists = fields.filter((field) => isConnection(field) && !field.args.some(isRequiredArgument));
  return lists.map((field) => {
    const type = nodeType(field);
    const single = fields.find((other) => !isConnection(other) && getNamedType(other.type) === type)!;
    return { type, list: field.name, single: single.name };
  });
}

/** Whether a field returns a page of rows. */
export function isConnection(field: GraphQLField<unknown, unknown>): boolean {
  return getNamedType(field.type).name.endsWith("Connection");
}

/** The type of the rows of a connection field. */
export function nodeType(field: GraphQLField<unknown, unknown>): GraphQLObjectType {
  const connection = getNamedType(field.type) as GraphQLObjectType;
  const edge = getNamedType(connection.getFields().edges!.type) as GraphQLObjectType;
  return getNamedType(edge.getFields().node!.type) as GraphQLObjectType;
}

/** A selection of everything in a type: its values, ids of related objects, and the start of each list. */
export function everything(type: GraphQLObjectType, first = 2): string {
  const parts = Object.values(type.getFields()).map((field) => {
    const named = getNamedType(field.type);
    const past = field.args.find(({ name }) => name === "moment" || name === "since")?.name;
    const given = past === undefined ? "" : `${past}: "2026-05-01T00:00:00Z"`;
    const call = `${field.name}${given && `(${given})`}`;
    if (isLeafType(named)) return call;
    if (isConnection(field))
      return `${field.name}(${given && `${given}, `}first: ${first}) { ${page("id")} }`;
    if (isObjectType(named) && "id" in named.getFields()) return `${call} { id }`;
    return `${call} { ${Object.keys((named as GraphQLObjectType).getFields()).join(" ")} }`;
  });
  return ["__typename", ...parts].join(" ");
}

/** A selection of a page with all its parts. */
export function page(node: string): string {
  return `pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { ${node} } }`;
}

/** Fields that the schema allows to be null, embedded objects left out. */
export function nullableFields(type: GraphQLObjectType): string[] {
  return Object.values(type.getFields())
    .filter((field) => !(field.type instanceof GraphQLNonNull))
    .map((field) => field.name);
}

/** What a field requires, by its `@requiresScopes`. */
export function requiredScopes(field: GraphQLField<unknown, unknown>): string[] {
  const directive = field.astNode?.directives?.find(({ name }) => name.value === "requiresScopes");
  return (directive?.arguments ?? []).flatMap(({ value }) =>
    value.kind === Kind.LIST ? value.values.map((item) => (item.kind === Kind.STRING ? item.value : "")) : [],
  );
}
