import type {
  GraphQLArgument,
  GraphQLField,
  GraphQLInputType,
  GraphQLNamedType,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLSchema,
} from "postgraphile/graphql";
import {
  buildSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isListType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from "postgraphile/graphql";
import type { WithScopes } from "../graphql/scopes.ts";
import type { Edition, Topic } from "./edition.ts";

/** The sections of the reference, with their titles. */
export const kinds = {
  queries: "Queries",
  mutations: "Mutations",
  subscriptions: "Subscriptions",
  objects: "Objects",
  lists: "Lists",
  aggregates: "Aggregates",
  payloads: "Payloads",
  inputs: "Inputs",
  filters: "Filters",
  enums: "Enums",
  scalars: "Scalars",
} as const;
export type Kind = keyof typeof kinds;

/** Returns the singular of a kind's title. */
export const getKindName = (kind: Kind): string => kinds[kind].replace(/ies$/, "ys").replace(/s$/, "");

/** Kinds of root fields, each with the keyword of its operations. */
export const operations = { queries: "query", mutations: "mutation", subscriptions: "subscription" } as const;
export type RootKind = keyof typeof operations;

/** Kinds of objects, by the suffixes of their names. */
const objectKinds: readonly (readonly [Kind, RegExp])[] = [
  ["lists", /(?:Connection|Edge)$/],
  ["aggregates", /Aggregates$/],
  ["payloads", /Payload$/],
];

export type Field = GraphQLField<unknown, unknown>;

/** A type or a root field: each has a page in the reference. */
export type Member = GraphQLNamedType | Field;

export const isField = (member: Member): member is Field => "args" in member;

/** A use of a type: by a field, or by its argument. */
export interface Use {
  type: string;
  field: string;
}

/** A schema, with the fields that read each type, the mutations that write it, and the topics of its events. */
export class Model {
  readonly edition: Edition;
  readonly schema: GraphQLSchema;
  readonly queries: readonly Field[];
  readonly mutations: readonly Field[];
  readonly subscriptions: readonly Field[];
  /** All types, sorted by name, without the root types and the built-in ones. */
  readonly types: readonly GraphQLNamedType[];
  readonly #uses: Map<string, Use[]>;
  /** The names of the types that each mutation writes. */
  readonly #written = new Map<string, ReadonlySet<string>>();
  readonly #topics: Map<string, Topic[]>;

  constructor(edition: Edition) {
    this.edition = edition;
    this.schema = addFacts(buildSchema(edition.sdl, { assumeValid: true, assumeValidSDL: true }), edition);
    const { schema } = this;
    const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
    const [queries = [], mutations = [], subscriptions = []] = roots.map((root) =>
      sortByName(Object.values(root?.getFields() ?? {})),
    );
    this.queries = queries;
    this.mutations = mutations;
    this.subscriptions = subscriptions;
    this.types = sortByName(Object.values(schema.getTypeMap())).filter(
      (type) =>
        !isIntrospectionType(type) && !isSpecifiedScalarType(type) && !roots.some((root) => root === type),
    );
    const owners = [...this.types, ...roots.filter((root) => root != null)];
    this.#uses = Map.groupBy(owners.flatMap(listUses), ({ target }) => target);
    this.#topics = Map.groupBy(edition.topics, getSubjectType);
    for (const { name, type } of mutations)
      this.#written.set(name, new Set(this.#listShownTypes(getNamedType(type))));
  }

  kindOf(member: Member): Kind {
    if (isField(member)) return this.rootOf(member);
    if (isEnumType(member)) return "enums";
    if (isScalarType(member)) return "scalars";
    if (isInputObjectType(member)) return /Filter(?:Input)?$/.test(member.name) ? "filters" : "inputs";
    const [kind = "objects"] = objectKinds.find(([, suffix]) => suffix.test(member.name)) ?? [];
    return kind;
  }

  ofKind(kind: Kind): readonly Member[] {
    if (kind in operations) return this[kind as RootKind];
    return this.types.filter((type) => this.kindOf(type) === kind);
  }

  /** The kinds that have members. */
  get kinds(): Kind[] {
    return (Object.keys(kinds) as Kind[]).filter((kind) => this.ofKind(kind).length > 0);
  }

  /** The fields of all roots. */
  get rootFields(): readonly Field[] {
    return [...this.queries, ...this.mutations, ...this.subscriptions];
  }

  /** Returns whether a root field is a query, a mutation or a subscription. */
  rootOf(field: Field): RootKind {
    if (this.mutations.includes(field)) return "mutations";
    return this.subscriptions.includes(field) ? "subscriptions" : "queries";
  }

  /** Returns the fields of a type, and the arguments and input fields that take it. */
  usesOf(type: GraphQLNamedType): readonly Use[] {
    return this.#uses.get(type.name) ?? [];
  }

  /** Returns the mutations that create, change or delete an object of a type, as their payloads show. */
  writersOf(type: GraphQLNamedType): readonly Field[] {
    return this.mutations.filter(({ name }) => this.#written.get(name)?.has(type.name));
  }

  /** Returns the types that a mutation writes. */
  writtenBy({ name }: Field): readonly GraphQLNamedType[] {
    return this.types.filter((type) => this.#written.get(name)?.has(type.name));
  }

  /** Returns the topics of events whose subject has a type. */
  topicsOf(type: GraphQLNamedType): readonly Topic[] {
    return this.#topics.get(type.name) ?? [];
  }

  /** Returns the queries that return a type, or a list of it. */
  readersOf(type: GraphQLNamedType): readonly Field[] {
    return this.queries.filter((field) => {
      const target = getNamedType(field.type);
      return target === type || getEntryType(target) === type;
    });
  }

  /** Returns the type of a list's filter; null if it has none. */
  filterOf(type: GraphQLNamedType): GraphQLNamedType | null {
    const filters = this.readersOf(type).flatMap(({ args }) => args.filter(({ name }) => name === "filter"));
    return filters.length > 0 ? getNamedType(filters[0]!.type) : null;
  }

  /** Returns the names of the objects in a payload, also within its rows, and of the objects that it reports as deleted. */
  #listShownTypes(payload: GraphQLNamedType, within: ReadonlySet<string> = new Set()): string[] {
    return listFields(payload).flatMap(({ name, type }) => {
      const target = getNamedType(type);
      if (isObjectType(target)) {
        if (target.getInterfaces().length > 0) return [target.name];
        return within.has(target.name)
          ? []
          : this.#listShownTypes(target, new Set([...within, payload.name]));
      }
      const [, deleted] = /^deleted(\w+)Id$/.exec(name) ?? [];
      return deleted !== undefined && this.schema.getType(deleted) ? [deleted] : [];
    });
  }
}

interface AnyField {
  name: string;
  type: GraphQLOutputType | GraphQLInputType;
  args?: readonly GraphQLArgument[];
  deprecationReason?: string | null;
}

/** Returns the fields of a type, sorted by name; none if it has none. */
export const listFields = (type: GraphQLNamedType): AnyField[] =>
  "getFields" in type ? sortByName(Object.values<AnyField>(type.getFields())) : [];

/** Returns the types of a type's fields and of their arguments. */
const listUses = (owner: GraphQLNamedType): (Use & { target: string })[] =>
  listFields(owner).flatMap(({ name: field, type, args = [] }) => {
    const targets = [type, ...args.map((argument) => argument.type)].map((used) => getNamedType(used).name);
    return [...new Set(targets)].map((target) => ({ target, type: owner.name, field }));
  });

/** Adds facts to fields that SDL doesn't contain. */
function addFacts(schema: GraphQLSchema, { fields }: Edition): GraphQLSchema {
  for (const [path, facts] of fields) {
    const [type = "", name = ""] = path.split(".");
    const field = (schema.getType(type) as GraphQLObjectType | undefined)?.getFields()[name];
    if (field) Object.assign(field, { extensions: { ...field.extensions, ...facts } });
  }
  return schema;
}

/** Returns the type of the entries of a connection, or of an edge; null for other types. */
export function getEntryType(type: GraphQLNamedType): GraphQLNamedType | null {
  if (!isObjectType(type)) return null;
  const { edges, node, cursor } = type.getFields();
  if (edges && isListType(getNullableType(edges.type))) return getEntryType(getNamedType(edges.type));
  return node && cursor ? getNamedType(node.type) : null;
}

/** Returns the subject's type of a topic's events, from the id in their data. */
function getSubjectType({ schema }: Topic): string {
  const pattern = schema.properties?.data?.properties?.id?.pattern ?? "";
  return /^\^gid:\/\/\w+\/(\w+)\//.exec(pattern)?.[1] ?? "";
}

export const sortByName = <T extends { name: string }>(list: readonly T[]): T[] =>
  list.toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** Returns the scopes that a field needs. */
export function listScopes({ extensions: { requiresScopes } }: WithScopes): string[] {
  return [...(requiresScopes?.anyOf ?? []), ...(requiresScopes?.allOf ?? [])];
}
