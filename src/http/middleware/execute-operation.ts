import type { ServedVersion } from "../../versions/serve-version.ts";
import { compressWhole } from "../compress-whole.ts";
import type { Middleware } from "../pipeline.ts";
import type { UnreadAnswers } from "../unread-answers.ts";

/** Lets the requested version execute and answer the operation. */
export function executeOperation(served: readonly ServedVersion[], unread: UnreadAnswers): Middleware {
  const handlers = new Map(served.map(({ version, handler }) => [version.slug, handler]));
  return (request, response, next) => {
    unread.countEnd(response);
    compressWhole(request, response);
    handlers.get(response.locals.version!.slug)!(request, response, next);
  };
}
