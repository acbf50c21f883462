import type { FairQueue } from "../../../lib/fair-queue.ts";
import { TurnRefused } from "../../../lib/fair-queue.ts";
import { refuse } from "../../answers.ts";
import type { Middleware } from "../../pipeline.ts";
import type { Spending } from "./spend-points.ts";

/**
 * Takes a place for a stream until its response ends, and refuses the stream when its API credential or the process has too
 * many. This happens before anything is awaited, so that streams that are opened at the same time are all counted.
 */
export function limitStreams(
  streams: FairQueue,
  spending: Pick<Spending, "refuseSlowly">,
): Middleware<"caller" | "isStream"> {
  return (request, response, next) => {
    const { caller, isStream } = response.locals;
    if (!isStream) return next();
    const { credentialId } = caller;
    streams.take(credentialId, (refusal) => {
      if (!refusal) {
        const end = () => streams.end(credentialId);
        if (response.closed) return end();
        response.once("close", end);
        return next();
      }
      response.setHeader("retry-after", "15");
      const isOwn = refusal instanceof TurnRefused && refusal.isOwn;
      const [status, code, message] = isOwn
        ? ([429, "THROTTLED", "This API credential has too many open streams. Close one first."] as const)
        : ([503, "SERVICE_UNAVAILABLE", "Too many streams are open. Try again later."] as const);
      spending.refuseSlowly(credentialId, () => refuse(request, response, status, code, message));
    });
  };
}
