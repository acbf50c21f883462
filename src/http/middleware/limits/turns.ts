import type { EventLoopQueue } from "../../../lib/event-loop-queue.ts";
import { FairQueue, TurnRefused } from "../../../lib/fair-queue.ts";
import { refuse } from "../../answers.ts";
import type { Middleware, Request, Response } from "../../pipeline.ts";

/** Points from which an operation is costly. */
const costlyPoints = 100;

/** Creates the queue for costly operations. */
export const createCostlyQueue = (): FairQueue =>
  new FairQueue({ limit: () => 3, limitPerOwner: () => 1, maxWaitMs: () => 15_000 });

/**
 * Lets an API credential run one costly operation at a time, so that a client with saved points can't occupy all processors.
 * Other operations don't wait.
 */
export function takeCostlyTurns(queue: FairQueue): Middleware<"caller" | "operation"> {
  return (request, response, next) => {
    if (response.locals.operation.cost.requested < costlyPoints) return next();
    const { credentialId } = response.locals.caller;
    queue.take(credentialId, (refusal) => {
      if (refusal) {
        response.setHeader("retry-after", "1");
        const message = "Too many costly operations are waiting. Send the request again in a moment.";
        return refuse(request, response, 503, "SERVICE_UNAVAILABLE", message);
      }
      let isOver = false;
      const end = () => {
        if (!isOver) queue.end(credentialId);
        isOver = true;
      };
      // The response is complete; the client may read it slowly
      response.once("prefinish", end).once("close", end);
      if (response.closed) return end();
      next();
    });
  };
}

/** Lets requests of different API credentials take turns: one that sends many at once doesn't delay the others. */
export function takeTurns(turns: EventLoopQueue): Middleware<"caller"> {
  return (_request, response, next) =>
    turns.take(response.locals.caller.credentialId, () => {
      if (!response.closed) next();
    });
}

/** Refuses a request when too much work is waiting, of its API credential or in total. Rethrows other errors. */
export function refuseTurn(request: Request, response: Response): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof TurnRefused)) throw error;
    response.setHeader("retry-after", "1");
    if (error.isOwn) {
      const message =
        "Too many long documents of this API credential are waiting to be read. Send fewer at once.";
      return refuse(request, response, 429, "THROTTLED", message);
    }
    const message = "Too many long documents are waiting to be read. Send the request again in a moment.";
    refuse(request, response, 503, "SERVICE_UNAVAILABLE", message);
  };
}
