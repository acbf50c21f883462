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
import { findDocumentFacts } from "../graphql/document-facts.ts";
import { findOperation } from "../graphql/operation.ts";
import { memoizeByObject } from "../lib/remembered.ts";
import type { FieldArguments } from "./arguments.ts";
import type { Slot, Statement } from "./compilation.ts";
import { compile } from "./compile.ts";
import type { CoercedVariables, ReadableOperation, SelectedField } from "./selection.ts";
import { UnsupportedOperation, selectedFields } from "./selection.ts";
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
const maxCachedCharacters = 16_000_000;
/** The longest key of a compiled operation. Grafast runs those with longer ones: few are sent twice, and cached keys take memory. */
const maxKeyCharacters = 20_000;

type NumberedOperation = PreparedOperation & { number: number };

/** An operation of one request with its compiled form. */
export interface CompiledRequest<Compiled> {
  compiled: Compiled;
  operation: PreparedOperation;
  variables: CoercedVariables;
  fieldArguments: ReadonlyMap<FieldNode, FieldArguments>;
}

/** Analyses and compiles operations of a kind. Both functions throw an error for operations that they don't support. */
export interface Compiler<Compiled> {
  prepare(operation: ReadableOperation): PreparedOperation;
  compile(
    operation: PreparedOperation,
    variables: CoercedVariables,
    fieldArguments: ReadonlyMap<FieldNode, FieldArguments>,
  ): Compiled;
  /** Returns its SQL. */
  textOf(compiled: Compiled): string;
}

/** A cache of compiled operations of a version. */
export class Compilations<Compiled extends object> {
  readonly #compiler: Compiler<Compiled>;
  // The server caches documents, so the same operation is the same object
  readonly #prepared = new WeakMap<OperationDefinitionNode, NumberedOperation | "not covered">();
  #count = 0;
  readonly #compiled: LRUCache<string, Compiled | "not covered">;

  constructor(compiler: Compiler<Compiled>) {
    this.#compiler = compiler;
    this.#compiled = new LRUCache({
      maxSize: maxCachedCharacters,
      sizeCalculation: (compiled, key) =>
        key.length + (compiled === "not covered" ? 0 : compiler.textOf(compiled).length) + 200,
    });
  }

  /** Returns the compiled operation of a request; null if Grafast has to run it. */
  find({
    schema,
    document,
    operationName,
    variableValues,
  }: OperationRequest): CompiledRequest<Compiled> | null {
    const operation = this.#prepare(schema, document, operationName);
    const variables = operation && coerceVariables(operation, variableValues);
    if (!operation || !variables) return null;
    let request;
    try {
      request = readRequest(operation, findDocumentFacts(schema, document).flags, variables);
    } catch (error) {
      // Grafast reports invalid arguments, with the right path
      if (isApiError(error)) return null;
      throw error;
    }
    const { key, fieldArguments: given } = request;
    const compiled = key.length <= maxKeyCharacters ? this.#compile(key, operation, variables, given) : null;
    return compiled && { compiled, operation, variables, fieldArguments: given };
  }

  #prepare(
    schema: GraphQLSchema,
    document: DocumentNode,
    name: string | null | undefined,
  ): NumberedOperation | null {
    const { operation, fragments } = findOperation(document, name);
    if (!operation || (!name && hasSeveralOperations(document))) return null;
    let prepared = this.#prepared.get(operation);
    if (!prepared) {
      const made = tryToCompile(() => this.#compiler.prepare({ schema, definition: operation, fragments }));
      prepared = made ? { ...made, number: this.#count++ } : "not covered";
      this.#prepared.set(operation, prepared);
    }
    return prepared === "not covered" ? null : prepared;
  }

  #compile(
    key: string,
    operation: NumberedOperation,
    variables: CoercedVariables,
    fieldArguments: ReadonlyMap<FieldNode, FieldArguments>,
  ) {
    // A separator, because the key may begin with a digit
    const numberedKey = `${operation.number}:${key}`;
    let compiled = this.#compiled.get(numberedKey);
    if (!compiled) {
      compiled =
        tryToCompile(() => this.#compiler.compile(operation, variables, fieldArguments)) ?? "not covered";
      this.#compiled.set(numberedKey, compiled);
    }
    return compiled === "not covered" ? null : compiled;
  }
}

/** Returns the values of the slots of a statement. */
export const collectValues = (
  slots: readonly Slot[],
  fieldArguments: ReadonlyMap<FieldNode, FieldArguments>,
): unknown[] => slots.map(({ node, index }) => fieldArguments.get(node)!.values[index]);

const reads = { prepare: prepareOperation, compile, textOf: ({ text }: Statement) => text };
const compilations = memoizeByObject<GraphQLSchema, Compilations<Statement>>(() => new Compilations(reads));

/** Returns the statement that answers a request; null if Grafast has to run it. */
export function compileReadRequest(request: OperationRequest): ReadStatement | null {
  const { schema } = request;
  const found = compilations(schema).find(request);
  if (found === null) return null;
  const { compiled, operation, variables, fieldArguments: given } = found;
  return {
    text: compiled.text,
    name: compiled.name,
    values: collectValues(compiled.slots, given),
    fields: () =>
      selectedFields(operation, schema.getQueryType()!, [operation.definition.selectionSet], variables),
  };
}

const hasSeveralOperations = ({ definitions }: DocumentNode): boolean =>
  definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length > 1;

function tryToCompile<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof UnsupportedOperation) return null;
    throw error;
  }
}

const noVariables: CoercedVariables = {};

/** Checks by scalar whether a value needs no coercion, which holds for most variables. */
const needsNoCoercion: Readonly<Record<string, (value: unknown) => boolean>> = {
  ID: (value) => typeof value === "string",
  String: (value) => typeof value === "string",
  Boolean: (value) => typeof value === "boolean",
  Int: (value) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31,
  Float: (value) => Number.isFinite(value),
};

function isAlreadyCoerced({ variable, type }: VariableDefinitionNode, values: CoercedVariables): boolean {
  const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  if (named.kind !== Kind.NAMED_TYPE) return false;
  return needsNoCoercion[named.name.value]?.(values[variable.name.value]) ?? false;
}

/** Returns the coerced variables of a request; null if some are invalid, which Grafast will report. */
function coerceVariables(
  { schema, definition: { variableDefinitions } }: ReadableOperation,
  variableValues: GrafastExecutionArgs["variableValues"],
): CoercedVariables | null {
  if (!variableDefinitions?.length) return noVariables;
  const values = variableValues ?? noVariables;
  if (variableDefinitions.every((definition) => isAlreadyCoerced(definition, values))) return values;
  return getVariableValues(schema, variableDefinitions, values, { maxErrors: 1 }).coerced ?? null;
}
