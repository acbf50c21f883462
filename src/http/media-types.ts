import type { RequestHandler } from "express";
import { graphqlMediaTypes, refuse } from "./answers.ts";

/** Takes GraphQL by POST only. Queries in addresses would end up in logs and caches. */
export const onlyPost: RequestHandler = (request, response, next) => {
  if (request.method === "POST") return next();
  response.setHeader("allow", "POST");
  refuse(request, response, 405, "BAD_USER_INPUT", "Send GraphQL requests by POST.");
};

/** Settles the media type of the answer, and refuses clients that take neither of the two that there are. */
export const negotiateMediaType: RequestHandler = (request, response, next) => {
  const type = request.accepts(graphqlMediaTypes);
  if (!type) {
    const message = "Answers are application/json or application/graphql-response+json. Accept one of these.";
    return refuse(request, response, 406, "BAD_USER_INPUT", message);
  }
  // For Grafserv, which would choose otherwise for clients that don't care.
  request.headers.accept = type;
  response.vary("Accept");
  response.setHeader("cache-control", "no-store");
  next();
};
