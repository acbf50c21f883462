import type { EventLoopQueue } from "../../../lib/event-loop-queue.ts";
import { FairQueue, NoTurn } from "../../../lib/fair-queue.ts";
import { refuse } from "../../answers.ts";
import type { Middleware, Request, Response } from "../../pipeline.ts";

/** Points from which an operation is costly. */
const costlyPoints = 100;

/** A queue for costly operations. */
export const costlyQueue = (): FairQueue =>
  new FairQueue({ limit: () => 3, limitPerOwner: () => 1, maxWaitMs: () => 15_000 });

/**
 * Lets a token run one costly operation at a time, so that four of them don't take all processors while they spend the
 * token's saved points. Other operations don't wait.
 */
export function costlyTurns(queue: FairQueue): Middleware<"caller" | "operation"> {
  return (request, response, next) => {
    if (response.locals.operation.cost.requested < costlyPoints) return next();
    const { credentialId } = response.locals.caller;
    queue.take(credentialId, (refusal) => {
      if (refusal) {
        response.setHeader("retry-after", "1");
        const message = "Too many costly operations wait. Send the request again in a little while.";
        return refuse(request, response, 503, "SERVICE_UNAVAILABLE", message);
      }
      let isOver = false;
      const end = () => {
        if (!isOver) queue.end(credentialId);
        isOver = true;
      };
      // The answer is ready; the client may read it slowly
      response.once("prefinish", end).once("close", end);
      if (response.closed) return end();
      next();
    });
  };
}

/** Queues the requests of a credential that sends many at once, so that other credentials are served in between. */
export function fairTurns(turns: EventLoopQueue): Middleware<"caller"> {
  return (_request, response, next) =>
    turns.take(response.locals.caller.credentialId, () => {
      if (!response.closed) next();
    });
}

/** Refuses a request when too much work waits, of its token or in all. Throws other errors again. */
export function refuseTurn(request: Request, response: Response): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof NoTurn)) throw error;
    response.setHeader("retry-after", "1");
    if (error.isOwn) {
      const message = "Too many long documents of this token wait to be read. Send fewer at once.";
      return refuse(request, response, 429, "THROTTLED", message);
    }
    const message = "Too many long documents wait to be read. Send the request again in a little while.";
    refuse(request, response, 503, "SERVICE_UNAVAILABLE", message);
  };
}
