import { sendCompressed } from "../../compression.ts";
import type { Locals } from "../../locals.ts";
import type { Request, Response } from "../../pipeline.ts";
import type { UnreadResponses } from "../limits/unread-answers.ts";

const json = "application/json;charset=utf-8";
const modern = "application/graphql-response+json;charset=utf-8";

/** Returns the extensions that every response to an operation has. */
export const buildExtensions = ({ operation, position }: Locals<"operation">) => ({
  cost: operation.cost,
  ...(position === undefined ? {} : { consistentWith: position }),
});

/** Sends the data of an operation, as JSON. */
export function sendData(
  request: Request,
  response: Response<"caller" | "operation">,
  data: string | Uint8Array,
  unread: UnreadResponses,
): void {
  const extensions = JSON.stringify(buildExtensions(response.locals));
  const [before, after] = ['{"data":', `,"extensions":${extensions}}`];
  const body =
    typeof data === "string"
      ? before + data + after
      : Buffer.concat([Buffer.from(before), data, Buffer.from(after)]);
  sendResponse(request, response, 200, body, unread);
}

/**
 * Sends the response to an operation, compressed if that pays.
 *
 * @param unread counts the response until it has been read
 */
export function sendResponse(
  request: Request,
  response: Response<"caller">,
  status: number,
  body: string | Buffer,
  unread: UnreadResponses,
): void {
  response.statusCode = status;
  response.setHeader("content-type", request.headers.accept!.startsWith("application/json") ? json : modern);
  sendCompressed(request, response, body, () => unread.count(response));
}
