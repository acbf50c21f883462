import { endCompressed } from "../../compression.ts";
import type { Locals } from "../../locals.ts";
import type { Request, Response } from "../../pipeline.ts";
import type { UnreadAnswers } from "../limits/unread-answers.ts";

const json = "application/json;charset=utf-8";
const modern = "application/graphql-response+json;charset=utf-8";

/** The extensions of every answer to an operation. */
export const extensionsOf = ({ operation, position }: Locals<"operation">) => ({
  cost: operation.cost,
  ...(position === undefined ? {} : { consistentWith: position }),
});

/** Answers an operation with data, as JSON. */
export function sendData(
  request: Request,
  response: Response<"caller" | "operation">,
  data: string | Uint8Array,
  unread: UnreadAnswers,
): void {
  const extensions = JSON.stringify(extensionsOf(response.locals));
  const [before, after] = ['{"data":', `,"extensions":${extensions}}`];
  const body =
    typeof data === "string"
      ? before + data + after
      : Buffer.concat([Buffer.from(before), data, Buffer.from(after)]);
  sendAnswer(request, response, 200, body, unread);
}

/**
 * Sends the answer to an operation, compressed where that pays.
 *
 * @param unread counts it
 */
export function sendAnswer(
  request: Request,
  response: Response<"caller">,
  status: number,
  body: string | Buffer,
  unread: UnreadAnswers,
): void {
  response.statusCode = status;
  response.setHeader("content-type", request.headers.accept!.startsWith("application/json") ? json : modern);
  endCompressed(request, response, body, () => unread.count(response));
}
