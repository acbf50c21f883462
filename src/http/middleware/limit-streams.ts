import type { FairQueue } from "../../lib/fair-queue.ts";
import { NoTurn } from "../../lib/fair-queue.ts";
import { refuse } from "../answers.ts";
import type { Middleware } from "../pipeline.ts";
import type { Spending } from "./spend-points.ts";

/**
 * Takes a place for a stream, which it has until its answer ends, and refuses it when its credential or the process has too
 * many. That comes before anything is awaited: streams that are opened at the same time count each other.
 */
export function limitStreams(streams: FairQueue, spending: Pick<Spending, "refuseSlowly">): Middleware {
  return (request, response, next) => {
    const { caller, isStream } = response.locals;
    if (!isStream) return next();
    const { credentialId } = caller!;
    streams.take(credentialId, (refusal) => {
      if (!refusal) {
        const end = () => streams.end(credentialId);
        if (response.closed) return end();
        response.once("close", end);
        return next();
      }
      response.setHeader("retry-after", "15");
      const isOwn = refusal instanceof NoTurn && refusal.isOwn;
      const [status, code, message] = isOwn
        ? ([429, "THROTTLED", "This token has too many open streams. End one first."] as const)
        : ([503, "SERVICE_UNAVAILABLE", "Too many streams are open. Try again in a while."] as const);
      spending.refuseSlowly(credentialId, () => refuse(request, response, status, code, message));
    });
  };
}
