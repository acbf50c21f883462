import { NoTurn } from "../lib/fair-queue.ts";
import { refuse } from "./answers.ts";
import type { Next, Request, Response } from "./pipeline.ts";

/** Refuses a request when too much work waits, of its token or in all. Passes other errors on. */
export function refuseTurn(request: Request, response: Response, next: Next): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof NoTurn)) return next(error);
    response.setHeader("retry-after", "1");
    if (error.isOwn) {
      const message = "Too many long documents of this token wait to be read. Send fewer at once.";
      return refuse(request, response, 429, "THROTTLED", message);
    }
    const message = "Too many long documents wait to be read. Send the request again in a little while.";
    refuse(request, response, 503, "SERVICE_UNAVAILABLE", message);
  };
}
