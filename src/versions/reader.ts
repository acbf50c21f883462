import type { Logger } from "pino";
import type {
  DocumentNode,
  ExecutionResult,
  GraphQLError,
  GraphQLSchema,
  OperationDefinitionNode,
} from "postgraphile/graphql";
import { getVariableValues, Kind, OperationTypeNode } from "postgraphile/graphql";
import type { ServiceContext } from "../graphql/context.ts";
import { missingScopes, requiringFields } from "../graphql/missing-scopes.ts";
import type { WithClients } from "../postgres/pg-service.ts";
import { apiError } from "../errors/api-error.ts";
import { clientError } from "../errors/client-errors.ts";
import { assess } from "../graphql/assess.ts";
import type { Limits } from "../graphql/limits.ts";
import { executeIn } from "./execute.ts";
import type { ServedVersion } from "./serve-version.ts";

/** Values of variables. */
type Variables = Record<string, unknown>;
type QueryReading =
  | { document: DocumentNode; cost: number; error: null }
  | { document: null; cost: null; error: GraphQLError };

/** The cost of a document in points, or the error by which it is refused. */
export type Price = { cost: number; error: null } | { cost: null; error: GraphQLError };

/**
 * Runs the service's own queries through the schema of a version, with the same limits, scopes and policies as queries
 * by HTTP.
 */
export class Reader {
  readonly #version: ServedVersion;
  readonly #limits: () => Promise<Limits>;
  readonly #logger: Logger;

  /** @param limits returns the current limits: the same object while they are the same */
  constructor(version: ServedVersion, limits: () => Promise<Limits>, logger: Logger) {
    this.#version = version;
    this.#limits = limits;
    this.#logger = logger;
  }

  /** Returns the error by which a document would be refused, whatever the data; null if it wouldn't be. */
  async refusal(
    source: string,
    variables: Variables,
    scopes: ReadonlySet<string>,
  ): Promise<GraphQLError | null> {
    const { document, error } = await this.#read(source, variables);
    if (error) return error;
    const { schema } = this.#version.current();
    return missingScopes(requiringFields(schema, document, null, variables), scopes);
  }

  /** The current schema. */
  get schema(): GraphQLSchema {
    return this.#version.current().schema;
  }

  /** Returns the cost of a document, for any caller. */
  async price(source: string, variables: Variables): Promise<Price> {
    const { cost, error } = await this.#read(source, variables);
    return error ? { cost: null, error } : { cost, error: null };
  }

  /**
   * Runs a document that contains a query. Its errors are those that a client would get.
   *
   * @param withPgClient its connections; by default those of requests
   */
  async run(
    source: string,
    variables: Variables,
    context: ServiceContext,
    withPgClient?: WithClients,
  ): Promise<ExecutionResult> {
    const { document, error } = await this.#read(source, variables).catch((cause: unknown): QueryReading => ({
      document: null,
      cost: null,
      error: clientError(cause, { requestId: context.requestId, logger: this.#logger }),
    }));
    return error ? { errors: [error] } : this.execute(document, variables, context, withPgClient);
  }

  /** Runs a document that is known to be valid, without limits. */
  execute(
    document: DocumentNode,
    variableValues: Variables,
    context: ServiceContext,
    withPgClient?: WithClients,
  ): Promise<ExecutionResult> {
    const scene = { requestId: context.requestId, logger: this.#logger };
    return executeIn(this.#version, { document, variableValues }, context, scene, { withPgClient });
  }

  async #read(source: string, variables: Variables): Promise<QueryReading> {
    const limits = await this.#limits();
    const { schema, documents } = this.#version.current();
    const { document = null, errors = [] } = { document: undefined, ...documents.read(source, limits) };
    const refused = (error: GraphQLError): QueryReading => ({ document: null, cost: null, error });
    if (!document) return refused(errors[0]!);
    const error = operationError(document);
    if (error) return refused(error);
    const { variableDefinitions = [] } = listOperations(document)[0]!;
    const { errors: wrong } = getVariableValues(schema, variableDefinitions, variables, {
      maxErrors: 1,
    });
    if (wrong) return refused(apiError("BAD_USER_INPUT", wrong[0]!.message));
    const { cost, refusal } = assess(schema, document, null, variables, limits);
    return refusal ? refused(refusal) : { document, cost, error: null };
  }
}

const listOperations = ({ definitions }: DocumentNode): OperationDefinitionNode[] =>
  definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);

function operationError(document: DocumentNode): GraphQLError | null {
  const [operation, ...others] = listOperations(document);
  if (operation?.operation === OperationTypeNode.QUERY && others.length === 0) return null;
  const message = "The document must have one query, and no other operation.";
  return apiError("GRAPHQL_VALIDATION_FAILED", message);
}
