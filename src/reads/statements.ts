import { LRUCache } from "lru-cache";
import type { GrafastExecutionArgs } from "postgraphile/grafast";
import type { DocumentNode, FieldNode, GraphQLSchema, OperationDefinitionNode } from "postgraphile/graphql";
import { Kind } from "postgraphile/graphql";
import { isApiError } from "../errors/api-error.ts";
import { findOperation } from "../graphql/operation.ts";
import type { Given } from "./arguments.ts";
import type { CompiledRead } from "./compile.ts";
import { compile } from "./compile.ts";
import type { Coerced, SelectedField } from "./operation.ts";
import { NotCovered, selectedFields } from "./operation.ts";
import type { PreparedOperation } from "./prepare.ts";
import { prepareOperation, readRequest } from "./prepare.ts";
import { coerce } from "./variables.ts";

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

/** Characters of SQL that are cached for one version. */
const maxKeptCharacters = 16_000_000;
/** Operations with a longer key are left to Grafast: hardly any is sent twice, and keys of cached statements take memory. */
const maxKeyCharacters = 20_000;

type Numbered = PreparedOperation & { number: number };

/** The statements of a version's read operations. Results for an operation are cached while it is used. */
export class ReadStatements {
  // The server caches documents, so the same query is the same object.
  readonly #prepared = new WeakMap<OperationDefinitionNode, Numbered | "not covered">();
  #count = 0;
  readonly #compiled = new LRUCache<string, CompiledRead | "not covered">({
    maxSize: maxKeptCharacters,
    sizeCalculation: (compiled, key) =>
      key.length + (compiled === "not covered" ? 0 : compiled.text.length) + 200,
  });

  /** The statement that answers a request; null to leave it to Grafast. */
  find({ schema, document, operationName, variableValues }: OperationRequest): ReadStatement | null {
    const operation = this.#prepare(schema, document, operationName);
    const variables = operation && coerce(operation, variableValues);
    if (!operation || !variables) return null;
    let request;
    try {
      request = readRequest(operation, variables);
    } catch (error) {
      // Grafast reports wrong arguments, with the right path.
      if (isApiError(error)) return null;
      throw error;
    }
    const { key, given } = request;
    const compiled = key.length <= maxKeyCharacters ? this.#compile(key, operation, variables, given) : null;
    if (!compiled) return null;
    const { text, name, slots } = compiled;
    return {
      text,
      name,
      values: slots.map(({ node, index }) => given.get(node)!.values[index]),
      fields: () =>
        selectedFields(operation, schema.getQueryType()!, [operation.definition.selectionSet], variables),
    };
  }

  #prepare(schema: GraphQLSchema, document: DocumentNode, name: string | null | undefined): Numbered | null {
    const { operation, fragments } = findOperation(document, name);
    if (!operation || (!name && hasSeveral(document))) return null;
    let prepared = this.#prepared.get(operation);
    if (!prepared) {
      const made = unlessNotCovered(() => prepareOperation({ schema, definition: operation, fragments }));
      prepared = made ? { ...made, number: this.#count++ } : "not covered";
      this.#prepared.set(operation, prepared);
    }
    return prepared === "not covered" ? null : prepared;
  }

  #compile(key: string, operation: Numbered, variables: Coerced, given: ReadonlyMap<FieldNode, Given>) {
    // With a separator: both parts begin with digits
    const numberedKey = `${operation.number}:${key}`;
    let compiled = this.#compiled.get(numberedKey);
    if (!compiled) {
      compiled = unlessNotCovered(() => compile(operation, variables, given)) ?? "not covered";
      this.#compiled.set(numberedKey, compiled);
    }
    return compiled === "not covered" ? null : compiled;
  }
}

const bySchema = new WeakMap<GraphQLSchema, ReadStatements>();

/** The one statement that answers a request; null to leave it to Grafast. */
export function readStatementOf(request: OperationRequest): ReadStatement | null {
  const { schema } = request;
  let statements = bySchema.get(schema);
  if (!statements) bySchema.set(schema, (statements = new ReadStatements()));
  return statements.find(request);
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
