import type { ServerResponse } from "node:http";
import type { PassedRequest } from "../../../versions/request-context.ts";
import { arrivalOf } from "../../pipeline.ts";
import type { Response } from "../../pipeline.ts";
import { extensionsOf } from "./send-data.ts";

/** A request whose operation is about to be executed, with the results of the middlewares. */
export function passedRequestOf(response: ServerResponse): PassedRequest {
  const { locals, req: request } = response as Response<
    "caller" | "execution" | "locale" | "noteWrite" | "operation" | "use"
  >;
  const { requestId, caller, locale, execution, readFailure, mutationOutcome, noteWrite, use } = locals;
  return {
    requestId,
    arrivedAt: arrivalOf(request),
    caller,
    locale,
    document: execution.document,
    use,
    extensions: () => extensionsOf(locals),
    noteError: (code) => void (locals.failure ??= code),
    readFailure,
    mutationOutcome,
    noteWrite,
  };
}
