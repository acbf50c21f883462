import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { DocumentNode, GraphQLError, GraphQLSchema, ValidationRule } from "postgraphile/graphql";
import { memoizeByObject } from "../lib/remembered.ts";
import type { Parsed } from "./check-document.ts";
import { validateDocument, parseWithin, valueRules } from "./check-document.ts";
import type { DocumentCache } from "./document-cache.ts";
import type { Limits } from "./limits.ts";
import { needsManyComparisons } from "./repeated-fields.ts";

/** A valid document, or its errors. */
export type DocumentReading =
  | { document: DocumentNode; errors?: never }
  | { errors: readonly GraphQLError[] };

/**
 * Checks a document in another thread, so that it doesn't block the event loop.
 * @returns its errors, by all rules except those about values: the other thread lacks our own scalars
 */
export type CheckElsewhere = (
  schema: GraphQLSchema,
  text: string,
  limits: Limits,
) => Promise<readonly GraphQLError[]>;

/** Limits of documents that are validated in this thread: characters, and comparisons of fields. More would delay requests. */
const quickLimits = { characters: 2_000, comparisons: 2_000 };

let schemas = 0;

/**
 * Reads the documents of a version: parsed, within limits, and valid. Clients send the same few again and again, so
 * they are cached, and other caches use the document object as their key.
 */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #cache: DocumentCache;
  readonly #number = schemas++;
  /** Numbers limits for the cache's keys, because merchants may have their own: a document is valid within some limits. */
  readonly #limitsNumber = memoizeByObject<Limits, number>(() => this.#count++);
  #count = 0;

  constructor(schema: GraphQLSchema, cache: DocumentCache) {
    this.#schema = schema;
    this.#cache = cache;
  }

  /** @param limits the same object while they are the same */
  read(text: string, limits: Limits): DocumentReading {
    return (
      this.#cache.get(this.#cacheKey(text, limits)) ?? this.#validate(text, limits, parseWithin(text, limits))
    );
  }

  /** Reads a document for any client: documents that take long to check are checked in another thread. */
  readFairly(
    text: string,
    limits: Limits,
    check: CheckElsewhere,
  ): DocumentReading | Promise<DocumentReading> {
    const known = this.#cache.get(this.#cacheKey(text, limits));
    if (known) return known;
    if (text.length < quickLimits.characters) {
      const parsed = parseWithin(text, limits);
      if (parsed.errors || !needsManyComparisons(parsed.document, quickLimits.comparisons))
        return this.#validate(text, limits, parsed);
    }
    return this.#readInParts(text, limits, check);
  }

  /** Reads a document that takes long. Other requests get their turn between the parts that must be done in this thread. */
  async #readInParts(text: string, limits: Limits, check: CheckElsewhere): Promise<DocumentReading> {
    const errors = await check(this.#schema, text, limits);
    if (errors.length > 0) return { errors };
    const parsed = parseWithin(text, limits);
    await nextTurn();
    const reading = this.#validate(text, limits, parsed, valueRules);
    await nextTurn();
    return reading;
  }

  /** Whether a document is cached, so that reading it costs nothing. */
  isKept(text: string, limits: Limits): boolean {
    return this.#cache.has(this.#cacheKey(text, limits));
  }

  #cacheKey(text: string, limits: Limits): string {
    return `${this.#number} ${this.#limitsNumber(limits)} ${text}`;
  }

  #validate(
    text: string,
    limits: Limits,
    parsed: Parsed,
    rules?: readonly ValidationRule[],
  ): DocumentReading {
    if (parsed.errors) return parsed;
    const errors = validateDocument(this.#schema, parsed.document, rules);
    if (errors.length > 0) return { errors };
    const digest = `${this.#number} ${hash("sha1", text, "base64")}`;
    this.#cache.offer(this.#cacheKey(text, limits), digest, parsed);
    return parsed;
  }
}
