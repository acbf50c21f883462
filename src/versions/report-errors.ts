import type { ExecutionArgs, ExecutionResult } from "postgraphile/graphql";
import { getOperationAST, GraphQLError, OperationTypeNode } from "postgraphile/graphql";
import type { ExecutionConfig } from "postgraphile/grafserv";
import type { Logger } from "pino";
import { apiError } from "../errors.ts";
import "../http/facts.ts";
import type { ErrorScene } from "../http/client-errors.ts";
import { clientError, completed } from "../http/client-errors.ts";

type ParseAndValidate = ExecutionConfig["parseAndValidate"];
type Execute = ExecutionConfig["execute"];

/**
 * Gives every error of a GraphQL answer its code and the request's id, and masks what clients must not see.
 *
 * Grafserv's own place for that, `maskError`, knows neither the request nor the errors of parsing and validation.
 */
export function makeReportErrorsPlugin(logger: Logger): GraphileConfig.Plugin {
  return {
    name: "ReportErrorsPlugin",
    description: "Turns errors into answers that carry a code and the id of the request",
    version: "1.0.0",
    grafserv: {
      middleware: {
        setPreset(next, event) {
          const { getExecutionConfig } = event;
          event.getExecutionConfig = async function (context) {
            const config = await getExecutionConfig.call(this, context);
            const scene = { requestId: context.expressv4!.res.locals.requestId, logger };
            return {
              ...config,
              parseAndValidate: reportingParser(config.parseAndValidate, scene),
              execute: reportingExecutor(config.execute, scene),
            };
          };
          return next();
        },
      },
    },
  };
}

function reportingParser(parseAndValidate: ParseAndValidate, { requestId }: ErrorScene): ParseAndValidate {
  return (query) => {
    try {
      const result = parseAndValidate(query);
      // Results are cached, so their errors must stay as they are.
      return result.errors
        ? { errors: result.errors.map((error) => completed(documentError(error), requestId)) }
        : result;
    } catch (error) {
      return { errors: [completed(documentError(error), requestId)] };
    }
  };
}

function documentError(error: unknown): GraphQLError {
  if (error instanceof RangeError)
    return apiError("GRAPHQL_PARSE_FAILED", "The document is nested too deeply.");
  if (!(error instanceof GraphQLError)) throw error;
  const { message, nodes, source, positions } = error;
  const isSyntaxError = message.startsWith("Syntax Error");
  const code = isSyntaxError ? "GRAPHQL_PARSE_FAILED" : "GRAPHQL_VALIDATION_FAILED";
  return apiError(code, message, {}, { nodes, source, positions });
}

function reportingExecutor(execute: Execute, scene: ErrorScene): Execute {
  return async (args: ExecutionArgs) => {
    try {
      const result = (await execute(args)) as ExecutionResult;
      if (!result.errors) return result;
      const isMutation =
        getOperationAST(args.document, args.operationName)?.operation === OperationTypeNode.MUTATION;
      return {
        ...result,
        errors: result.errors.map((error) => {
          const reported = clientError(error, scene);
          return isMutation && reported.path && reported.path.length > 1 ? afterwards(reported) : reported;
        }),
      };
    } catch (error) {
      return { errors: [clientError(error, scene)] };
    }
  };
}

/**
 * An error below the field of a mutation: what it was to do has been done, and committed. Whoever believes that the
 * whole can be sent again would do it twice.
 */
function afterwards(error: GraphQLError): GraphQLError {
  const { message, nodes, source, positions, path, extensions } = error;
  return new GraphQLError(`The mutation was done, but its result can't be read: ${message}`, {
    nodes,
    source,
    positions,
    path,
    extensions: { ...extensions, retryable: false },
  });
}
