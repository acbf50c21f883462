import { LRUCache } from "lru-cache";
import type { ASTNode, DocumentNode, GraphQLSchema } from "postgraphile/graphql";
import { GraphQLError, Kind, parse, Source, validate, visit } from "postgraphile/graphql";
import { apiError } from "../errors.ts";
import type { Limits } from "./limits.ts";

/** A document that is right, or what is wrong with it. */
export type Reading = { document: DocumentNode; errors?: never } | { errors: readonly GraphQLError[] };

/** Characters of all documents that a version keeps. */
const keptCharacters = 8_000_000;

/**
 * Reads the documents of a version: parsed, within limits, and valid. Clients send the same few again and again, so
 * they are kept; and the same text is the same object, which others remember things about.
 */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #kept = new LRUCache<string, Reading>({
    max: 1_000,
    maxSize: keptCharacters,
    sizeCalculation: (_reading, text) => text.length + 1,
  });
  #limits: Limits | undefined;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** @param limits when they are others than the last time, everything is read anew */
  read(text: string, limits: Limits): Reading {
    if (limits !== this.#limits) {
      this.#limits = limits;
      this.#kept.clear();
    }
    let reading = this.#kept.get(text);
    if (!reading) this.#kept.set(text, (reading = this.#read(text, limits)));
    return reading;
  }

  #read(text: string, limits: Limits): Reading {
    try {
      const document = parse(new Source(text, "GraphQL request"), { maxTokens: limits.tokens });
      // Before validation, whose time grows with their square
      const excess = excessOf(document, limits);
      if (excess) return { errors: [excess] };
      const errors = [
        ...validate(this.#schema, document),
        ...foreignOperations(this.#schema, document),
        ...inheritedNames(document),
      ];
      return errors.length === 0 ? { document } : { errors: errors.map(documentError) };
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

/** Which limit a document is beyond, whatever it says. */
function excessOf(document: DocumentNode, limits: Limits): GraphQLError | null {
  const found = { aliases: 0, directives: 0 };
  let deepest = 0;
  let depth = 0;
  visit(document, {
    enter(node: ASTNode) {
      if (node.kind === Kind.DIRECTIVE) found.directives++;
      if (node.kind === Kind.FIELD && node.alias && node.alias.value !== node.name.value) found.aliases++;
      if (node.kind === Kind.SELECTION_SET) deepest = Math.max(deepest, ++depth);
    },
    leave(node: ASTNode) {
      if (node.kind === Kind.SELECTION_SET) depth--;
    },
  });
  for (const name of ["aliases", "directives"] as const) {
    if (found[name] <= limits[name]) continue;
    const message = `The document has ${found[name]} ${name}; ${limits[name]} are allowed.`;
    return apiError("QUERY_TOO_COMPLEX", message, { [name]: found[name], maximum: limits[name] });
  }
  // Introspection, which is of no concern to the limit of depth, asks for about 15
  const most = limits.depth + 13;
  if (deepest <= most) return null;
  return apiError("QUERY_TOO_DEEP", `The document is nested ${deepest} deep; ${limits.depth} are allowed.`, {
    depth: deepest,
    maximum: limits.depth,
  });
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
