import type { OpenStreams } from "../../../live/open-streams.ts";
import { refuse } from "../../answers.ts";
import type { Middleware } from "../../pipeline.ts";
import type { Spending } from "./spend-points.ts";

/**
 * Takes a place for a stream, which it has until its answer ends, and refuses it when its credential or the process has too
 * many. That comes before anything is awaited: streams that are opened at the same time count each other.
 */
export function limitStreams(
  open: OpenStreams,
  spending: Pick<Spending, "refuseSlowly">,
): Middleware<"caller" | "isStream"> {
  return (request, response, next) => {
    const { caller, isStream } = response.locals;
    if (!isStream) return next();
    const { credentialId } = caller;
    const place = open.take(credentialId);
    if (typeof place === "function") {
      if (response.closed) return place();
      response.once("close", place);
      return next();
    }
    response.setHeader("retry-after", "15");
    const isOwn = place === "ofOne";
    const [status, code, message] = isOwn
      ? ([429, "THROTTLED", "This token has too many open streams. End one first."] as const)
      : ([503, "SERVICE_UNAVAILABLE", "Too many streams are open. Try again in a while."] as const);
    spending.refuseSlowly(credentialId, () => refuse(request, response, status, code, message));
  };
}
