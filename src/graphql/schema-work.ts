// Runs in a thread of SchemaThread.
import { LRUCache } from "lru-cache";
import type { GraphQLSchema } from "postgraphile/graphql";
import { execute, parse } from "postgraphile/graphql";
import { validateDocument, otherRules, parseWithin } from "./check-document.ts";
import type { Limits } from "./limits.ts";
import type { SchemaText } from "./schema-copy.ts";
import { schemaFromText } from "./schema-copy.ts";

/** The schema that a task needs, with its text if the thread has requested it. */
export interface SchemaReference {
  schemaId: number;
  schemaText?: SchemaText;
}

/** The result and duration of some work; null when the thread needs the text of the schema. */
export type SchemaAnswer<Result> = { result: Result; ms: number } | null;

/** An error as data. */
export interface ErrorData {
  message: string;
  extensions: Record<string, unknown>;
  positions: readonly number[] | undefined;
}

/** Cached schemas: one for each version, and some for versions that have just been rebuilt. */
const maxSchemas = 6;
const schemas = new LRUCache<number, GraphQLSchema>({ max: maxSchemas });
/** Maximum number of errors of a document. Finding the place of each in the text takes time. */
const maxErrors = 20;

export interface CheckTask extends SchemaReference {
  text: string;
  limits: Limits;
}

/** Checks a document: limits, and all rules except those about values, because the scalars of the copy accept everything. */
export function checkDocument({ text, limits, ...schema }: CheckTask): SchemaAnswer<ErrorData[]> {
  return withSchema(schema, (copy) => {
    const parsed = parseWithin(text, limits);
    const errors = parsed.errors ?? validateDocument(copy, parsed.document, otherRules);
    return errors
      .slice(0, maxErrors)
      .map(({ message, extensions, positions }) => ({ message, extensions, positions }));
  });
}

export interface IntrospectTask extends SchemaReference {
  /** A valid document. */
  text: string;
  operationName: string | null | undefined;
  variableValues: Record<string, unknown> | null | undefined;
}

/** Answers an operation that only queries the schema: its data as JSON, or null when there are errors. */
export function introspect({
  text,
  operationName,
  variableValues,
  ...schema
}: IntrospectTask): SchemaAnswer<Uint8Array | null> {
  return withSchema(schema, (copy) => {
    const document = parse(text, { noLocation: true });
    // Nothing in it is asynchronous
    const result = execute({ schema: copy, document, operationName, variableValues });
    return result instanceof Promise || result.errors ? null : Buffer.from(JSON.stringify(result.data));
  });
}

function withSchema<Result>(
  { schemaId, schemaText }: SchemaReference,
  work: (schema: GraphQLSchema) => Result,
): SchemaAnswer<Result> {
  let schema = schemas.get(schemaId);
  if (!schema) {
    if (!schemaText) return null;
    schemas.set(schemaId, (schema = schemaFromText(schemaText)));
  }
  const start = performance.now();
  const result = work(schema);
  return { result, ms: performance.now() - start };
}
