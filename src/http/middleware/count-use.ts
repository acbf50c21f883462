import type { Usage } from "../../auth/usage.ts";
import type { Middleware } from "../pipeline.ts";

/** Counts the request for its credential. */
export function countUse(usage: Usage): Middleware {
  return (_request, response, next) => {
    usage.note(response.locals.caller!.credentialId, response.locals.version!.slug);
    next();
  };
}
