import type { ErrorCode } from "../errors/api-error.ts";
import type { Caller } from "../auth/caller.ts";
import type { Operation } from "./middleware/read-operation.ts";
import type { Plan } from "../auth/plan.ts";
import type { Version } from "../versions/versions.ts";

declare global {
  namespace Express {
    /** What the stations found out about a request, for those behind them (`response.locals`). */
    interface Locals {
      /** Set by the first station (request-id.ts), so always there. */
      requestId: string;
      /** What the log says instead of the path, where a part of that must not be known. */
      loggedPath?: string;
      /** Which version is asked; set by versions/find-version.ts. */
      version?: Version;
      /** What the merchant has booked; set by plan/require-plan.ts. */
      plan?: Plan;
      /** Who asks; set by auth/require-token.ts. */
      caller?: Caller;
      /** Language of localised names; set by locale.ts. */
      locale?: string;
      /** What is asked for; set by operations/read-operation.ts. */
      operation?: Operation;
      /** Code of the error that a station refused it with; set by answers.ts, and for scopes by operations/answer-reads.ts. */
      refusal?: ErrorCode | undefined;
      /** Why the one statement that was to answer a read failed; set by operations/answer-reads.ts. */
      readFailure?: Error;
    }
  }
}
