import type { ServerResponse } from "node:http";
import type { PassedRequest } from "../versions/request-context.ts";
import { extensionsOf } from "./extensions.ts";
import { arrivalOf } from "./arrival.ts";
import type { Response } from "./pipeline.ts";

declare global {
  namespace Express {
    interface Locals {
      /** Code of the first error of its execution. */
      failure?: string;
    }
  }
}

/** A request whose operation is about to be executed, with the results of the middlewares. */
export function passedRequestOf(response: ServerResponse): PassedRequest {
  const { locals, req: request } = response as Response;
  const { requestId, caller, locale, operation, readFailure, mutationOutcome, noteWrite, use } = locals;
  return {
    ...{ requestId, arrivedAt: arrivalOf(request), locale, readFailure, mutationOutcome, noteWrite, use },
    caller: caller!,
    document: operation!.document!,
    extensions: () => extensionsOf(locals),
    noteError: (code) => void (locals.failure ??= code),
  };
}
