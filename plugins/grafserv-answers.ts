import type { DocumentNode, ExecutionArgs, ExecutionResult } from "postgraphile/graphql";
import { getOperationAST, GraphQLError, OperationTypeNode } from "postgraphile/graphql";
import type { ExecutionConfig } from "postgraphile/grafserv";
import type { Logger } from "pino";
import type { ServiceContext } from "../src/graphql/context.ts";
import type { MutationLog } from "../src/graphql/mutation-log.ts";
import type { ErrorScene } from "../src/errors/client-errors.ts";
import { clientError } from "../src/errors/client-errors.ts";

/** A request whose operation has been read, as its errors need it. */
export interface ReadRequest {
  requestId: string;
  document: DocumentNode;
  /** Extensions of the answer, once it is made. */
  extensions(): Record<string, unknown>;
  /** Notes the code of an error of its answer. */
  noteError(code: string): void;
  /** What log lines say of its operation. */
  logged?: object | undefined;
}

export interface ReportOptions {
  logger: Logger;
  /** What is known about an executed request. */
  requestOf(context: Partial<Grafast.RequestContext>): ReadRequest;
}

type Execute = ExecutionConfig["execute"];

/**
 * Gives every error of a GraphQL answer its code and the request's id, and masks what clients must not see. Adds the
 * cost of the operation. Grafserv's own hook for errors, `maskError`, doesn't know the request.
 *
 * Answers are made as JSON text directly, not as objects that are serialised afterwards. Grafserv's option
 * `outputDataAsString` tells Grafserv, and this tells Grafast. The service's own queries still get objects.
 */
export function makeAnswersPlugin({ logger, requestOf }: ReportOptions): GraphileConfig.Plugin {
  return {
    name: "AnswersPlugin",
    description: "Makes answers as JSON text, whose errors carry a code and the id of the request",
    grafast: {
      middleware: {
        prepareArgs(next, { args }) {
          if (args.requestContext?.node) args.outputDataAsString = true;
          return next();
        },
      },
    },
    grafserv: {
      middleware: {
        setPreset(next, event) {
          const { getExecutionConfig } = event;
          event.getExecutionConfig = async function (context) {
            const config = await getExecutionConfig.call(this, context);
            const { requestId, document, logged, ...forAnswer } = requestOf(context);
            return {
              ...config,
              // Read by an earlier middleware
              parseAndValidate: () => ({ document }),
              execute: reportingExecutor(config.execute, { requestId, logger, logged }, forAnswer),
            };
          };
          return next();
        },
      },
    },
  };
}

function reportingExecutor(
  execute: Execute,
  scene: ErrorScene,
  { extensions, noteError }: Pick<ReadRequest, "extensions" | "noteError">,
): Execute {
  const reported = (error: unknown, args: ExecutionArgs) => {
    const shown = report(error, args, scene);
    noteError(shown.extensions.code as string);
    return shown;
  };
  return async (args: ExecutionArgs) => {
    try {
      const answer = (await execute(args)) as ExecutionResult;
      const result = { ...answer, extensions: { ...answer.extensions, ...extensions() } };
      if (!result.errors) return result;
      return { ...result, errors: result.errors.map((error) => reported(error, args)) };
    } catch (error) {
      return { errors: [reported(error, args)], extensions: extensions() };
    }
  };
}

/** The error that a client gets, which depends on whether a mutation has been committed by then. */
function report(error: unknown, { document, operationName, contextValue }: ExecutionArgs, scene: ErrorScene) {
  const reported = clientError(error, scene);
  const { mutationLog } = contextValue as ServiceContext;
  if (getOperationAST(document, operationName)?.operation !== OperationTypeNode.MUTATION || !mutationLog)
    return reported;
  const { path } = reported;
  const cause = error instanceof GraphQLError ? error.originalError : error;
  const isAfterCommit = path ? path.length > 1 || mutationLog.isUnreadable(cause) : mutationLog.isAnyDone;
  if (isAfterCommit) return unavailable(reported, mutationLog);
  // A repetition would do the operation's other mutations again
  return mutationLog.isRepeatable
    ? reported
    : withExtensions(reported, reported.message, { retryable: false });
}

/** Their messages advise to repeat the request, without knowing that a mutation has been committed. */
const outages = new Set<unknown>(["QUERY_TIMEOUT", "CONFLICT_RETRY", "SERVICE_UNAVAILABLE"]);

/** An error while reading a mutation's payload. The mutation itself has been committed. */
function unavailable(error: GraphQLError, { isRepeatable }: MutationLog): GraphQLError {
  const { code, retryable } = error.extensions;
  const advice = isRepeatable
    ? "Its idempotencyKey makes it safe to send again."
    : "Read what you need; sending it again would do it once more.";
  const reason = outages.has(code) ? `${code as string}.` : error.message;
  const message = `The mutation was done, but its payload can't be read: ${reason} ${advice}`;
  return withExtensions(error, message, {
    code: "PAYLOAD_UNAVAILABLE",
    retryable: isRepeatable && retryable === true,
    cause: code,
  });
}

function withExtensions(error: GraphQLError, message: string, more: Record<string, unknown>): GraphQLError {
  const { nodes, source, positions, path, extensions } = error;
  return new GraphQLError(message, {
    nodes,
    source,
    positions,
    path,
    extensions: { ...extensions, ...more },
  });
}
