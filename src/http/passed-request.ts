import type { Response } from "express";
import type { PassedRequest } from "../versions/serve-version.ts";
import { extensionsOf } from "./extensions.ts";

/** A request whose operation is about to be executed: what the middlewares have found out about it. */
export function passedRequestOf({ locals }: Response): PassedRequest {
  const { requestId, caller, locale, operation, readFailure } = locals as Express.Locals;
  return {
    ...{ requestId, locale, readFailure },
    caller: caller!,
    document: operation!.document!,
    extensions: extensionsOf(locals as Express.Locals),
  };
}
