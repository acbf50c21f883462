import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { execute, hookArgs } from "postgraphile/grafast";
import type {
  DocumentNode,
  ExecutionResult,
  GraphQLSchema,
  OperationDefinitionNode,
} from "postgraphile/graphql";
import {
  GraphQLError,
  getVariableValues,
  Kind,
  OperationTypeNode,
  parse,
  validate,
} from "postgraphile/graphql";
import type { ServiceContext } from "../../plugins/context.ts";
import { sizeRefusal } from "../../plugins/operation-size.ts";
import { requiringFields } from "../../plugins/requiring-fields.ts";
import { missingScopes } from "../../plugins/scope-check.ts";
import { apiError } from "../errors.ts";
import { clientError } from "../http/client-errors.ts";

declare global {
  namespace Grafast {
    interface RequestContext {
      /** The context of a query that didn't come by HTTP. */
      inside?: ServiceContext;
    }
  }
}

export interface ReadRequest {
  /** A GraphQL document with one query. */
  source: string;
  variables: Record<string, unknown>;
  context: ServiceContext;
}

type Checked = { document: DocumentNode; error: null } | { document: null; error: GraphQLError };

/**
 * Runs queries of the service's own through the schema of a version: with the same limits, scopes and policies as
 * those that come by HTTP.
 */
export class Reader {
  readonly #schema: GraphQLSchema;
  readonly #resolvedPreset: GraphileConfig.ResolvedPreset;
  readonly #logger: Logger;
  readonly #documents = new LRUCache<string, Checked>({ max: 500 });

  constructor(schema: GraphQLSchema, resolvedPreset: GraphileConfig.ResolvedPreset, logger: Logger) {
    this.#schema = schema;
    this.#resolvedPreset = resolvedPreset;
    this.#logger = logger;
  }

  /** Why a document would be refused, whatever the data; null when it wouldn't. */
  refusal(
    source: string,
    variables: Record<string, unknown>,
    scopes: ReadonlySet<string>,
  ): GraphQLError | null {
    const { document, error } = this.#documentOf(source);
    if (error) return error;
    const [operation] = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
    const { variableDefinitions = [] } = operation as OperationDefinitionNode;
    const { errors } = getVariableValues(this.#schema, variableDefinitions, variables);
    if (errors) return apiError("BAD_USER_INPUT", errors[0]!.message);
    return (
      sizeRefusal({ schema: this.#schema, document, operationName: null, variableValues: variables }) ??
      missingScopes(requiringFields(this.#schema, document, null, variables), scopes)
    );
  }

  /** Runs a query. Its errors are those that a client would get. */
  async read({ source, variables, context }: ReadRequest): Promise<ExecutionResult> {
    const { document, error } = this.#documentOf(source);
    if (error) return { errors: [error] };
    const scene = { requestId: context.requestId, logger: this.#logger };
    try {
      const args = await hookArgs({
        schema: this.#schema,
        document,
        rootValue: null,
        contextValue: {},
        variableValues: variables,
        resolvedPreset: this.#resolvedPreset,
        requestContext: { inside: context },
      });
      const result = (await execute(args)) as ExecutionResult;
      return result.errors
        ? { ...result, errors: result.errors.map((each) => clientError(each, scene)) }
        : result;
    } catch (cause) {
      return { errors: [clientError(cause, scene)] };
    }
  }

  #documentOf(source: string): Checked {
    let checked = this.#documents.get(source);
    if (!checked) this.#documents.set(source, (checked = check(this.#schema, source)));
    return checked;
  }
}

function check(schema: GraphQLSchema, source: string): Checked {
  const fail = (code: "GRAPHQL_PARSE_FAILED" | "GRAPHQL_VALIDATION_FAILED", message: string): Checked => ({
    document: null,
    error: apiError(code, message),
  });
  let document: DocumentNode;
  try {
    document = parse(source);
    const [error] = validate(schema, document);
    if (error) return fail("GRAPHQL_VALIDATION_FAILED", error.message);
  } catch (error) {
    if (error instanceof RangeError)
      return fail("GRAPHQL_PARSE_FAILED", "The document is nested too deeply.");
    if (error instanceof GraphQLError) return fail("GRAPHQL_PARSE_FAILED", error.message);
    throw error;
  }
  const operations = document.definitions.filter(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  );
  const [operation] = operations;
  if (operations.length !== 1 || operation!.operation !== OperationTypeNode.QUERY)
    return fail("GRAPHQL_VALIDATION_FAILED", "The document must have one query, and no other operation.");
  return { document, error: null };
}
