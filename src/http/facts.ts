import type { Caller } from "../auth/caller.ts";

declare global {
  namespace Express {
    /** What the stations found out about a request, for those behind them (`response.locals`). */
    interface Locals {
      /** Set by the first station (request-id.ts), so always there. */
      requestId: string;
      /** What the log says instead of the path, where a part of that must not be known. */
      loggedPath?: string;
      /** Who asks; set by auth/require-token.ts. */
      caller?: Caller;
      /** Language of localised names; set by locale.ts. */
      locale?: string;
    }
  }
}
