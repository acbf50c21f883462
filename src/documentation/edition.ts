import { hash } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import { LRUCache } from "lru-cache";
import type { ClientBase } from "pg";
import type {
  GraphQLFieldExtensions,
  GraphQLInputFieldExtensions,
  GraphQLNamedType,
  GraphQLSchema,
} from "postgraphile/graphql";
import {
  GraphQLSchema as Schema,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  printSchema,
  printType,
} from "postgraphile/graphql";

/**
 * Facts about a field that introspection doesn't show: its scopes, the greatest length of a payload's list, and the indexes of
 * a filter.
 */
export type FieldFacts = Pick<
  GraphQLFieldExtensions<unknown, unknown>,
  "requiresScopes" | "payloadBound" | "rowsPerCall"
> &
  Pick<GraphQLInputFieldExtensions, "indexes">;

/** A topic of events. */
export interface Topic {
  name: string;
  description: string;
  scope: string;
  /** The JSON Schema of its messages. */
  schema: TopicSchema;
}

/** The parts of a JSON Schema that pages show. */
export interface TopicSchema {
  description?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, TopicSchema>;
  required?: string[];
  items?: TopicSchema;
}

/** The data that the pages of a version are made from, as the version is now. */
export interface Edition {
  slug: string;
  sdl: string;
  /** Facts about fields, by `Type.field`. */
  fields: ReadonlyMap<string, FieldFacts>;
  topics: readonly Topic[];
}

/** An edition as bytes, which threads share. */
export interface PackedEdition {
  /** A hash of the content. */
  id: string;
  slug: string;
  bytes: Uint8Array;
}

/** Packs an edition into memory that threads share. */
export function packEdition(edition: Edition): PackedEdition {
  const content = serialize(edition);
  const bytes = new Uint8Array(new SharedArrayBuffer(content.length));
  bytes.set(content);
  return { id: hash("sha256", content), slug: edition.slug, bytes };
}

/** Editions that a thread has unpacked, about ten megabytes each with its schema. */
const unpackedEditions = new LRUCache<string, Edition>({ max: 6 });

/** Unpacks an edition, unless this thread already has it. */
export function unpackEdition({ id, bytes }: PackedEdition): Edition {
  const edition = unpackedEditions.get(id) ?? (deserialize(bytes) as Edition);
  unpackedEditions.set(id, edition);
  return edition;
}

/** Milliseconds of printing before other work of the process gets a turn. */
const turnMs = 5;

const isOwn = (type: GraphQLNamedType): boolean => !isIntrospectionType(type) && !isSpecifiedScalarType(type);

/** Describes a schema, in pieces, so that requests needn't wait until all of it is done. */
export async function describeSchema(schema: GraphQLSchema): Promise<Pick<Edition, "sdl" | "fields">> {
  const parts = [printSchema(new Schema({ directives: schema.getDirectives() }))];
  const fields = new Map<string, FieldFacts>();
  const types = Object.values(schema.getTypeMap()).filter(isOwn);
  let began = performance.now();
  for (const type of types) {
    if (performance.now() - began > turnMs) {
      await new Promise((resolve) => setImmediate(resolve));
      began = performance.now();
    }
    parts.push(printType(type));
    if (!isObjectType(type) && !isInputObjectType(type)) continue;
    for (const { name, extensions } of Object.values<{ name: string; extensions: FieldFacts }>(
      type.getFields(),
    )) {
      const { requiresScopes, payloadBound, rowsPerCall, indexes } = extensions;
      if (requiresScopes || payloadBound || rowsPerCall || indexes)
        fields.set(`${type.name}.${name}`, { requiresScopes, payloadBound, rowsPerCall, indexes });
    }
  }
  return { sdl: parts.join("\n\n"), fields };
}

/** Reads the topics of events. */
export async function readTopics(client: ClientBase): Promise<Topic[]> {
  const { rows } = await client.query<Topic>("select name, description, scope from auth.documented_topics()");
  // One at a time, because statements have a time limit
  for (const topic of rows) {
    const found = await client.query<Pick<Topic, "schema">>("select auth.documented_schema($1) as schema", [
      topic.name,
    ]);
    topic.schema = found.rows[0]!.schema;
  }
  return rows;
}
