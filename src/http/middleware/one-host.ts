import { refuse } from "../answers.ts";
import type { Middleware } from "../pipeline.ts";

/**
 * Refuses requests that name more than one host, as RFC 9112 §3.2 demands: a proxy in front of the service may have
 * used another one than the service does.
 */
export const oneHost: Middleware = (request, response, next) => {
  const { rawHeaders } = request;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === "host") hosts++;
  if (hosts <= 1) return next();
  refuse(request, response, 400, "BAD_USER_INPUT", "The request names more than one host.");
};
