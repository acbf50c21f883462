import type {} from "postgraphile";

/**
 * Answers are made as JSON text at once, not as objects that are printed afterwards. Grafserv's option
 * `outputDataAsString` says so to Grafserv, this to Grafast. Queries of the service's own still get objects.
 */
export const TextAnswersPlugin: GraphileConfig.Plugin = {
  name: "TextAnswersPlugin",
  description: "Makes the data of answers as JSON text",
  version: "1.0.0",
  grafast: {
    middleware: {
      prepareArgs(next, { args }) {
        if (args.requestContext?.node) args.outputDataAsString = true;
        return next();
      },
    },
  },
};
