import { LRUCache } from "lru-cache";
import type { GrafastExecutionArgs } from "postgraphile/grafast";
import type {
  DocumentNode,
  FieldNode,
  GraphQLSchema,
  OperationDefinitionNode,
  VariableDefinitionNode,
} from "postgraphile/graphql";
import { getVariableValues, Kind } from "postgraphile/graphql";
import { isApiError } from "../errors/api-error.ts";
import { factsOf } from "../graphql/document-facts.ts";
import { findOperation } from "../graphql/operation.ts";
import { perObject } from "../lib/remembered.ts";
import type { Given } from "./arguments.ts";
import type { Slot, Statement } from "./compilation.ts";
import { compile } from "./compile.ts";
import type { Coerced, ReadableOperation, SelectedField } from "./selection.ts";
import { NotCovered, selectedFields } from "./selection.ts";
import type { PreparedOperation } from "./prepare.ts";
import { prepareOperation, readRequest } from "./prepare.ts";

/** The statement of one request, with its values. */
export interface ReadStatement {
  text: string;
  name: string;
  values: unknown[];
  /** The requested root fields. */
  fields(): Map<string, SelectedField>;
}

/** A request for an operation. */
export type OperationRequest = Pick<
  GrafastExecutionArgs,
  "schema" | "document" | "operationName" | "variableValues"
>;

/** The most characters of SQL that are cached for one version. */
const maxKeptCharacters = 16_000_000;
/** The longest key of a compiled operation. Grafast runs those with longer ones: few are sent twice, and cached keys take memory. */
const maxKeyCharacters = 20_000;

type Numbered = PreparedOperation & { number: number };

/** An operation of one request with its compiled form. */
export interface Found<Compiled> {
  compiled: Compiled;
  operation: PreparedOperation;
  variables: Coerced;
  given: ReadonlyMap<FieldNode, Given>;
}

/** Analyses and compiles operations of a kind. Both functions throw an error for operations that they don't support. */
export interface Compiler<Compiled> {
  prepare(operation: ReadableOperation): PreparedOperation;
  compile(operation: PreparedOperation, variables: Coerced, given: ReadonlyMap<FieldNode, Given>): Compiled;
  /** Returns its SQL. */
  textOf(compiled: Compiled): string;
}

/** A cache of compiled operations of a version. */
export class Compilations<Compiled extends object> {
  readonly #compiler: Compiler<Compiled>;
  // The server caches documents, so the same operation is the same object
  readonly #prepared = new WeakMap<OperationDefinitionNode, Numbered | "not covered">();
  #count = 0;
  readonly #compiled: LRUCache<string, Compiled | "not covered">;

  constructor(compiler: Compiler<Compiled>) {
    this.#compiler = compiler;
    this.#compiled = new LRUCache({
      maxSize: maxKeptCharacters,
      sizeCalculation: (compiled, key) =>
        key.length + (compiled === "not covered" ? 0 : compiler.textOf(compiled).length) + 200,
    });
  }

  /** Returns the compiled operation of a request; null if Grafast has to run it. */
  find({ schema, document, operationName, variableValues }: OperationRequest): Found<Compiled> | null {
    const operation = this.#prepare(schema, document, operationName);
    const variables = operation && coerce(operation, variableValues);
    if (!operation || !variables) return null;
    let request;
    try {
      request = readRequest(operation, factsOf(schema, document).flags, variables);
    } catch (error) {
      // Grafast reports invalid arguments, with the right path
      if (isApiError(error)) return null;
      throw error;
    }
    const { key, fieldArguments: given } = request;
    const compiled = key.length <= maxKeyCharacters ? this.#compile(key, operation, variables, given) : null;
    return compiled && { compiled, operation, variables, given };
  }

  #prepare(schema: GraphQLSchema, document: DocumentNode, name: string | null | undefined): Numbered | null {
    const { operation, fragments } = findOperation(document, name);
    if (!operation || (!name && hasSeveral(document))) return null;
    let prepared = this.#prepared.get(operation);
    if (!prepared) {
      const made = unlessNotCovered(() =>
        this.#compiler.prepare({ schema, definition: operation, fragments }),
      );
      prepared = made ? { ...made, number: this.#count++ } : "not covered";
      this.#prepared.set(operation, prepared);
    }
    return prepared === "not covered" ? null : prepared;
  }

  #compile(key: string, operation: Numbered, variables: Coerced, given: ReadonlyMap<FieldNode, Given>) {
    // A separator, because the key may begin with a digit
    const numberedKey = `${operation.number}:${key}`;
    let compiled = this.#compiled.get(numberedKey);
    if (!compiled) {
      compiled = unlessNotCovered(() => this.#compiler.compile(operation, variables, given)) ?? "not covered";
      this.#compiled.set(numberedKey, compiled);
    }
    return compiled === "not covered" ? null : compiled;
  }
}

/** Returns the values of the slots of a statement. */
export const valuesOf = (slots: readonly Slot[], given: ReadonlyMap<FieldNode, Given>): unknown[] =>
  slots.map(({ node, index }) => given.get(node)!.values[index]);

const reads = { prepare: prepareOperation, compile, textOf: ({ text }: Statement) => text };
const compilations = perObject<GraphQLSchema, Compilations<Statement>>(() => new Compilations(reads));

/** Returns the statement that answers a request; null if Grafast has to run it. */
export function readStatementOf(request: OperationRequest): ReadStatement | null {
  const { schema } = request;
  const found = compilations(schema).find(request);
  if (found === null) return null;
  const { compiled, operation, variables, given } = found;
  return {
    text: compiled.text,
    name: compiled.name,
    values: valuesOf(compiled.slots, given),
    fields: () =>
      selectedFields(operation, schema.getQueryType()!, [operation.definition.selectionSet], variables),
  };
}

const hasSeveral = ({ definitions }: DocumentNode): boolean =>
  definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length > 1;

function unlessNotCovered<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof NotCovered) return null;
    throw error;
  }
}

const noVariables: Coerced = {};

/** Checks by scalar whether a value needs no coercion, which holds for most variables. */
const isPlain: Readonly<Record<string, (value: unknown) => boolean>> = {
  ID: (value) => typeof value === "string",
  String: (value) => typeof value === "string",
  Boolean: (value) => typeof value === "boolean",
  Int: (value) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31,
  Float: (value) => Number.isFinite(value),
};

function isPlainlyGiven({ variable, type }: VariableDefinitionNode, given: Coerced): boolean {
  const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  if (named.kind !== Kind.NAMED_TYPE) return false;
  return isPlain[named.name.value]?.(given[variable.name.value]) ?? false;
}

/** Returns the coerced variables of a request; null if some are invalid, which Grafast will report. */
function coerce(
  { schema, definition: { variableDefinitions } }: ReadableOperation,
  given: GrafastExecutionArgs["variableValues"],
): Coerced | null {
  if (!variableDefinitions?.length) return noVariables;
  const values = given ?? noVariables;
  if (variableDefinitions.every((definition) => isPlainlyGiven(definition, values))) return values;
  return getVariableValues(schema, variableDefinitions, values, { maxErrors: 1 }).coerced ?? null;
}
