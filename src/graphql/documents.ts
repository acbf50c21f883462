import { hash } from "node:crypto";
import type { ASTNode, DocumentNode, GraphQLSchema } from "postgraphile/graphql";
import { GraphQLError, Kind, parse, Source, validate, visit } from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import type { DocumentCache, KeptDocument } from "./document-cache.ts";
import type { Limits } from "./limits.ts";
import { comparesTooMuch } from "./repeated-fields.ts";

/** A document that is right, or what is wrong with it. */
export type Reading = { document: DocumentNode; errors?: never } | { errors: readonly GraphQLError[] };

/** Comparisons of fields that validating a document may take: at most some 20 ms. */
const maxComparisons = 40_000;

let schemas = 0;

/**
 * Reads the documents of a version: parsed, within limits, and valid. Clients send the same few again and again, so
 * they are kept; and the same text is the same object, which others remember things about.
 */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #cache: DocumentCache;
  /** By their text: those that were read within the present limits. */
  readonly #kept = new Map<string, KeptDocument>();
  readonly #name = `${schemas++} `;
  #limits: Limits | undefined;

  constructor(schema: GraphQLSchema, cache: DocumentCache) {
    this.#schema = schema;
    this.#cache = cache;
  }

  /** @param limits when they are others than the last time, everything is read anew */
  read(text: string, limits: Limits): Reading {
    const kept = this.#keptFor(limits).get(text);
    if (!kept) return this.#read(text, limits);
    this.#cache.touch(kept);
    return kept;
  }

  /** Whether a document has been read and kept, so that reading it costs nothing. */
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

/** Complaints about operations of a kind that the schema doesn't have, such as subscriptions: no rule of GraphQL does. */
function foreignOperations(schema: GraphQLSchema, { definitions }: DocumentNode): GraphQLError[] {
  return definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .filter(({ operation }) => !schema.getRootType(operation))
    .map((node) => new GraphQLError(`There is no ${node.operation} in this schema.`, { nodes: node }));
}

/**
 * Complaints about variables called like what every object of JavaScript has, such as `constructor`. Wherever values
 * of variables are looked up by name, one of these that isn't given would seem to be.
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

/** What a document has in it, whatever it says. */
interface DocumentSize {
  nodes: number;
  aliases: number;
  directives: number;
  /** Selection sets within one another. */
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

/** Which limit a document is beyond; null when it is within all. */
function excessOf(document: DocumentNode, found: DocumentSize, limits: Limits): GraphQLError | null {
  for (const name of ["aliases", "directives"] as const) {
    if (found[name] <= limits[name]) continue;
    const message = `The document has ${found[name]} ${name}; ${limits[name]} are allowed.`;
    return apiError("QUERY_TOO_COMPLEX", message, { [name]: found[name], maximum: limits[name] });
  }
  // Introspection, which is of no concern to the limit of depth, asks for about 15
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
