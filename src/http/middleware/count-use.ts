import type { RequestHandler } from "express";
import type { Usage } from "../../auth/usage.ts";

/** Counts the request for its credential. */
export function countUse(usage: Usage): RequestHandler {
  return (request, response, next) => {
    usage.note(response.locals.caller!.credentialId, String(request.params.version));
    next();
  };
}
