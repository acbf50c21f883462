import type {} from "postgraphile";

/**
 * Answers are made as JSON text directly, not as objects that are serialised afterwards. Grafserv's option
 * `outputDataAsString` tells Grafserv, and this tells Grafast. The service's own queries still get objects.
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
