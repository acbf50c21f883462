import { refuse } from "../answers.ts";
import type { Middleware } from "../pipeline.ts";

/** Accepts GraphQL by POST only. Queries in addresses would end up in logs and caches. */
export const onlyPost: Middleware = (request, response, next) => {
  if (request.method === "POST") return next();
  response.setHeader("allow", "POST");
  refuse(request, response, 405, "BAD_USER_INPUT", "Send GraphQL requests by POST.");
};
