import type { EventLoopQueue } from "../../lib/event-loop-queue.ts";
import type { Middleware } from "../pipeline.ts";

/** Makes a token that sends many requests at once wait for its own, so that those of others are served in between. */
export function fairTurns(turns: EventLoopQueue): Middleware {
  return (_request, response, next) =>
    turns.take(response.locals.caller!.credentialId, () => {
      if (!response.closed) next();
    });
}
