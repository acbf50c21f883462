import { getOperationAST, OperationTypeNode } from "postgraphile/graphql";
import { refuse } from "../../answers.ts";
import type { Middleware } from "../../pipeline.ts";

/** Refuses methods other than GET and POST. */
export const getOrPost: Middleware = (request, response, next) => {
  if (request.method === "POST" || request.method === "GET") return next();
  response.setHeader("allow", "GET, POST");
  refuse(request, response, 405, "BAD_USER_INPUT", "Send GraphQL requests by POST, or queries by GET.");
};

/** Refuses mutations by GET, which caches and browsers may repeat. */
export const noMutationByGet: Middleware<"execution"> = (request, response, next) => {
  if (request.method === "POST") return next();
  const { document, operationName } = response.locals.execution;
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.MUTATION) return next();
  response.setHeader("allow", "POST");
  refuse(request, response, 405, "BAD_USER_INPUT", "Send mutations by POST.");
};
