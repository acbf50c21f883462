import { hash } from "node:crypto";
import type { ASTNode, DocumentNode, GraphQLSchema } from "postgraphile/graphql";
import { GraphQLError, Kind, parse, Source, validate, visit } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import type { DocumentCache, KeptDocument } from "./document-cache.ts";
import type { Limits } from "./limits.ts";
import { comparesTooMuch } from "./repeated-fields.ts";

/** A valid document, or its errors. */
export type Reading = { document: DocumentNode; errors?: never } | { errors: readonly GraphQLError[] };

/** Comparisons of fields that validating a document may need: some 20 ms. */
const maxComparisons = 40_000;

let schemas = 0;

/**
 * Reads the documents of a version: parsed, within limits, and valid. Clients send the same few again and again, so
 * they are cached, and other caches use the document object as their key.
 */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #cache: DocumentCache;
  /** By text: documents that were read within the present limits. */
  readonly #kept = new Map<string, KeptDocument>();
  readonly #name = `${schemas++} `;
  #limits: Limits | undefined;

  constructor(schema: GraphQLSchema, cache: DocumentCache) {
    this.#schema = schema;
    this.#cache = cache;
  }

  /** @param limits when they differ from the last ones, the cache is emptied */
  read(text: string, limits: Limits): Reading {
    const kept = this.#keptFor(limits).get(text);
    if (!kept) return this.#read(text, limits);
    this.#cache.touch(kept);
    return kept;
  }

  /** Whether a document is cached, so that reading it costs nothing. */
  isKept(text: string, limits: Limits): boolean {
    return this.#keptFor(limits).has(text);
  }

  #keptFor(limits: Limits): Map<string, KeptDocument> {
    if (limits !== this.#limits) {
      this.#limits = limits;
      this.#cache.clear(this.#kept);
    }
    return this.#kept;
  }

  #read(text: string, limits: Limits): Reading {
    try {
      const document = parse(new Source(text, "GraphQL request"), { maxTokens: limits.tokens });
      // Before validation, whose time grows with their square
      const size = sizeOf(document);
      const excess = excessOf(document, size, limits);
      if (excess) return { errors: [excess] };
      const errors = [
        ...validate(this.#schema, document),
        ...foreignOperations(this.#schema, document),
        ...inheritedNames(document),
      ];
      if (errors.length > 0) return { errors: errors.map(documentError) };
      const digest = this.#name + hash("sha1", text, "base64");
      this.#cache.offer(this.#kept, digest, text, { document, nodes: size.nodes });
      return { document };
    } catch (error) {
      return { errors: [documentError(error)] };
    }
  }
}

/**
 * Errors for kinds of operations that the schema doesn't have, such as subscriptions. No rule of graphql-js checks
 * that.
 */
function foreignOperations(schema: GraphQLSchema, { definitions }: DocumentNode): GraphQLError[] {
  return definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .filter(({ operation }) => !schema.getRootType(operation))
    .map((node) => new GraphQLError(`There is no ${node.operation} in this schema.`, { nodes: node }));
}

/**
 * Errors for variables named like a property of every JavaScript object, such as `constructor`. Code that looks up a
 * variable by name would find one that wasn't given.
 */
function inheritedNames({ definitions }: DocumentNode): GraphQLError[] {
  return definitions
    .flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [],
    )
    .filter(({ variable }) => variable.name.value in Object.prototype)
    .map(
      (node) =>
        new GraphQLError(`A variable can't be called "$${node.variable.name.value}".`, { nodes: node }),
    );
}

/** Counts of a document's parts. */
interface DocumentSize {
  nodes: number;
  aliases: number;
  directives: number;
  /** Nesting of selection sets. */
  depth: number;
}

function sizeOf(document: DocumentNode): DocumentSize {
  const size = { nodes: 0, aliases: 0, directives: 0, depth: 0 };
  let depth = 0;
  visit(document, {
    enter(node: ASTNode) {
      size.nodes++;
      if (node.kind === Kind.DIRECTIVE) size.directives++;
      if (node.kind === Kind.FIELD && node.alias && node.alias.value !== node.name.value) size.aliases++;
      if (node.kind === Kind.SELECTION_SET) size.depth = Math.max(size.depth, ++depth);
    },
    leave(node: ASTNode) {
      if (node.kind === Kind.SELECTION_SET) depth--;
    },
  });
  return size;
}

/** Which limit a document exceeds; null if none. */
function excessOf(document: DocumentNode, found: DocumentSize, limits: Limits): GraphQLError | null {
  for (const name of ["aliases", "directives"] as const) {
    if (found[name] <= limits[name]) continue;
    const message = `The document has ${found[name]} ${name}; ${limits[name]} are allowed.`;
    return apiError("QUERY_TOO_COMPLEX", message, { [name]: found[name], maximum: limits[name] });
  }
  // Introspection, to which the limit of depth doesn't apply, needs about 15
  const most = limits.depth + 13;
  if (found.depth > most) {
    const message = `The document is nested ${found.depth} deep; ${limits.depth} are allowed.`;
    return apiError("QUERY_TOO_DEEP", message, { depth: found.depth, maximum: limits.depth });
  }
  if (!comparesTooMuch(document, maxComparisons)) return null;
  const message = "The document repeats fields and fragments so often that checking it would take too long.";
  return apiError("QUERY_TOO_COMPLEX", message, { maximum: maxComparisons });
}

function documentError(error: unknown): GraphQLError {
  if (error instanceof RangeError)
    return apiError("GRAPHQL_PARSE_FAILED", "The document is nested too deeply.");
  if (!(error instanceof GraphQLError)) throw error;
  const { message, nodes, source, positions } = error;
  const place = { nodes, source, positions };
  const tooLong = /contains more tha[nt] (\d+) tokens/.exec(message)?.[1];
  if (tooLong !== undefined) {
    const maximum = Number(tooLong);
    return apiError("QUERY_TOO_COMPLEX", `The document has more than ${maximum} tokens.`, { maximum }, place);
  }
  const isSyntaxError = message.startsWith("Syntax Error");
  const code = isSyntaxError ? "GRAPHQL_PARSE_FAILED" : "GRAPHQL_VALIDATION_FAILED";
  return apiError(code, message, {}, place);
}
