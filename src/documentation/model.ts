import type {
  GraphQLField,
  GraphQLInputObjectType,
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
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from "postgraphile/graphql";
import type { WithScopes } from "../graphql/scopes.ts";
import type { Edition, Topic } from "./edition.ts";

/** How the reference is divided. */
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

/** The name of one of a kind. */
export const nameOf = (kind: Kind): string => kinds[kind].replace(/ies$/, "ys").replace(/s$/, "");

/** Kinds of fields of the roots, with the word for an operation of each. */
export const operations = { queries: "query", mutations: "mutation", subscriptions: "subscription" } as const;
export type RootKind = keyof typeof operations;

export type Field = GraphQLField<unknown, unknown>;

/** Where something is used: a field, or an argument of one. */
export interface Use {
  type: string;
  field: string;
}

/** A schema with what follows from it: what leads to a type, what writes it, what tells of it. */
export class Model {
  readonly edition: Edition;
  readonly schema: GraphQLSchema;
  readonly queries: readonly Field[];
  readonly mutations: readonly Field[];
  readonly subscriptions: readonly Field[];
  /** All types, by name, without the roots and what every schema has. */
  readonly types: readonly GraphQLNamedType[];
  readonly #kinds = new Map<string, Kind>();
  readonly #uses = new Map<string, Use[]>();
  readonly #writers = new Map<string, Field[]>();
  readonly #topics: Map<string, Topic[]>;

  constructor(edition: Edition) {
    this.edition = edition;
    this.schema = withFacts(buildSchema(edition.sdl, { assumeValid: true, assumeValidSDL: true }), edition);
    const { schema } = this;
    const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
    const [queries = [], mutations = [], subscriptions = []] = roots.map((root) =>
      sorted(Object.values(root?.getFields() ?? {})),
    );
    this.queries = queries;
    this.mutations = mutations;
    this.subscriptions = subscriptions;
    this.types = sorted(Object.values(schema.getTypeMap())).filter(
      (type) =>
        !isIntrospectionType(type) && !isSpecifiedScalarType(type) && !roots.some((root) => root === type),
    );
    for (const type of this.types) this.#learn(type);
    for (const query of this.queries) this.#learnField("Query", query);
    for (const subscription of this.subscriptions) this.#learnField("Subscription", subscription);
    for (const mutation of this.mutations) this.#learnWriter(mutation);
    this.#topics = Map.groupBy(edition.topics, subjectOf);
  }

  kindOf(type: GraphQLNamedType): Kind {
    return this.#kinds.get(type.name) ?? ofItself(type);
  }

  ofKind(kind: Kind): readonly (GraphQLNamedType | Field)[] {
    if (kind in operations) return this[kind as RootKind];
    return this.types.filter((type) => this.kindOf(type) === kind);
  }

  /** The fields of all roots. */
  get rootFields(): readonly Field[] {
    return [...this.queries, ...this.mutations, ...this.subscriptions];
  }

  /** Whether a field of a root is a query, a mutation or a subscription. */
  rootOf(field: Field): RootKind {
    if (this.mutations.includes(field)) return "mutations";
    return this.subscriptions.includes(field) ? "subscriptions" : "queries";
  }

  /** Fields that have a type, and arguments and input fields that take it. */
  usesOf(type: GraphQLNamedType): readonly Use[] {
    return this.#uses.get(type.name) ?? [];
  }

  /** Mutations whose payload shows an object as they have made, changed or deleted it. */
  writersOf(type: GraphQLNamedType): readonly Field[] {
    return this.#writers.get(type.name) ?? [];
  }

  /** Topics of events whose subject is a type. */
  topicsOf(type: GraphQLNamedType): readonly Topic[] {
    return this.#topics.get(type.name) ?? [];
  }

  /** Queries that answer a type, or a list of it. */
  readersOf(type: GraphQLNamedType): readonly Field[] {
    return this.queries.filter((field) => {
      const target = getNamedType(field.type);
      return target === type || entryOf(target) === type;
    });
  }

  /** The type of a list's filter; null when it takes none. */
  filterOf(type: GraphQLNamedType): GraphQLNamedType | null {
    const list = this.readersOf(type).find(({ args }) => args.some(({ name }) => name === "filter"));
    const argument = list?.args.find(({ name }) => name === "filter");
    return argument ? getNamedType(argument.type) : null;
  }

  #learn(type: GraphQLNamedType): void {
    if (isInputObjectType(type)) {
      for (const { name, type: used } of Object.values(type.getFields())) this.#use(used, type.name, name);
      return;
    }
    if (!isObjectType(type) && !isInterfaceType(type)) return;
    if (entryOf(type)) this.#kinds.set(type.name, "lists");
    for (const field of Object.values(type.getFields())) {
      this.#learnField(type.name, field);
      if (entryOf(type) && /aggregates$/i.test(field.name))
        this.#mark(getNamedType(field.type), "aggregates");
    }
  }

  /** Marks a type, and those of its fields, as figures of a list, or as conditions of a filter. */
  #mark(type: GraphQLNamedType, kind: "aggregates" | "filters"): void {
    if (!(isObjectType(type) || isInputObjectType(type)) || this.#kinds.has(type.name)) return;
    this.#kinds.set(type.name, kind);
    for (const field of Object.values<{ type: GraphQLOutputType | GraphQLInputType }>(type.getFields()))
      this.#mark(getNamedType(field.type), kind);
  }

  #learnField(owner: string, { name, type, args }: Field): void {
    this.#use(type, owner, name);
    for (const argument of args) {
      this.#use(argument.type, owner, name);
      if (argument.name === "filter") this.#mark(getNamedType(argument.type), "filters");
    }
  }

  #learnWriter(mutation: Field): void {
    this.#learnField("Mutation", mutation);
    const payload = getNamedType(mutation.type);
    if (!isObjectType(payload)) return;
    this.#kinds.set(payload.name, "payloads");
    for (const type of this.#shownBy(payload)) {
      const writers = this.#writers.get(type) ?? [];
      if (!writers.includes(mutation)) this.#writers.set(type, [...writers, mutation]);
    }
  }

  /** Names of the objects that a payload shows, also within its rows, and of those whose id it names as deleted. */
  #shownBy(payload: GraphQLObjectType, within: ReadonlySet<string> = new Set()): string[] {
    return Object.values(payload.getFields()).flatMap(({ name, type }) => {
      const target = getNamedType(type);
      if (isObjectType(target)) {
        if (target.getInterfaces().length > 0) return [target.name];
        return within.has(target.name) ? [] : this.#shownBy(target, new Set([...within, payload.name]));
      }
      const [, deleted] = /^deleted(\w+)Id$/.exec(name) ?? [];
      return deleted !== undefined && this.schema.getType(deleted) ? [deleted] : [];
    });
  }

  #use(type: GraphQLOutputType | GraphQLInputType, owner: string, field: string): void {
    const { name } = getNamedType(type);
    const uses = this.#uses.get(name);
    if (uses === undefined) this.#uses.set(name, [{ type: owner, field }]);
    else if (!uses.some((use) => use.type === owner && use.field === field))
      uses.push({ type: owner, field });
  }
}

function ofItself(type: GraphQLNamedType): Kind {
  if (isEnumType(type)) return "enums";
  if (isScalarType(type)) return "scalars";
  return isInputObjectType(type) ? "inputs" : "objects";
}

/** Writes down on fields what SDL doesn't tell of them. */
function withFacts(schema: GraphQLSchema, { fields }: Edition): GraphQLSchema {
  for (const [path, facts] of fields) {
    const [type = "", name = ""] = path.split(".");
    const field = (schema.getType(type) as GraphQLObjectType | undefined)?.getFields()[name];
    if (field) Object.assign(field, { extensions: { ...field.extensions, ...facts } });
  }
  return schema;
}

/** The type of the entries of a list, or of an edge of it; null for other types. */
export function entryOf(type: GraphQLNamedType): GraphQLNamedType | null {
  if (!isObjectType(type)) return null;
  const { edges, node, cursor } = type.getFields();
  if (edges && isListType(getNullableType(edges.type))) return entryOf(getNamedType(edges.type));
  return node && cursor ? getNamedType(node.type) : null;
}

/** The type that a topic's events are about: that of the id in their data. */
function subjectOf({ schema }: Topic): string {
  const pattern = schema.properties?.data?.properties?.id?.pattern ?? "";
  return /^\^gid:\/\/\w+\/(\w+)\//.exec(pattern)?.[1] ?? "";
}

export const sorted = <T extends { name: string }>(list: readonly T[]): T[] =>
  list.toSorted((a, b) => (a.name < b.name ? -1 : 1));

export const inputFieldsOf = (type: GraphQLInputObjectType) => sorted(Object.values(type.getFields()));

/** Scopes that a field needs, as words. */
export function scopesOf({ extensions: { requiresScopes } }: WithScopes): string[] {
  return [...(requiresScopes?.anyOf ?? []), ...(requiresScopes?.allOf ?? [])];
}
