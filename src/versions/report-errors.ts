import type { ExecutionArgs, ExecutionResult } from "postgraphile/graphql";
import { getOperationAST, GraphQLError, OperationTypeNode } from "postgraphile/graphql";
import type { ExecutionConfig } from "postgraphile/grafserv";
import type { Logger } from "pino";
import "../http/facts.ts";
import type { ErrorScene } from "../http/client-errors.ts";
import { clientError } from "../http/client-errors.ts";
import { extensionsOf } from "../operations/extensions.ts";

type Execute = ExecutionConfig["execute"];

/**
 * Gives every error of a GraphQL answer its code and the request's id, and masks what clients must not see. Says what
 * the operation cost.
 *
 * Grafserv's own place for errors, `maskError`, doesn't know the request.
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
            const locals = context.expressv4!.res.locals as Express.Locals;
            const { requestId, operation } = locals;
            const { document } = operation!;
            return {
              ...config,
              // Read by an earlier station
              parseAndValidate: () => ({ document: document! }),
              execute: reportingExecutor(config.execute, { requestId, logger }, extensionsOf(locals)),
            };
          };
          return next();
        },
      },
    },
  };
}

function reportingExecutor(execute: Execute, scene: ErrorScene, extensions: object): Execute {
  return async (args: ExecutionArgs) => {
    try {
      const answer = (await execute(args)) as ExecutionResult;
      const result = { ...answer, extensions: { ...answer.extensions, ...extensions } };
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
      return { errors: [clientError(error, scene)], extensions: { ...extensions } };
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
