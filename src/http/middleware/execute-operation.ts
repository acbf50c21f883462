import type { ServedVersion } from "../../versions/serve-version.ts";
import type { Middleware } from "../pipeline.ts";
import type { UnreadAnswers } from "../unread-answers.ts";

/** Has the version that is asked execute the operation, and answer it. */
export function executeOperation(served: readonly ServedVersion[], unread: UnreadAnswers): Middleware {
  const handlers = new Map(served.map(({ version, handler }) => [version.slug, handler]));
  return (request, response, next) => {
    unread.countEnd(response);
    handlers.get(response.locals.version!.slug)!(request, response, next);
  };
}
