import type { WholeAnswer } from "../../../versions/graphql-server.ts";
import { endCompressed } from "../../compression.ts";
import type { Locals } from "../../locals.ts";
import type { Request, Response } from "../../pipeline.ts";
import type { UnreadAnswers } from "../limits/unread-answers.ts";

/** Media types as Grafserv writes them. */
const json = "application/json;charset=utf-8";
const modern = "application/graphql-response+json;charset=utf-8";

/** The extensions of every answer to an operation. */
export const extensionsOf = ({ operation, position }: Locals<"operation">) => ({
  cost: operation.cost,
  ...(position === undefined ? {} : { consistentWith: position }),
});

/** Answers an operation with data, as JSON, as Grafserv would. */
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
  const contentType = request.headers.accept!.startsWith("application/json") ? json : modern;
  sendWhole(request, response, { status: 200, headers: { "content-type": contentType }, body }, unread);
}

/**
 * Sends a whole answer, compressed where that pays.
 *
 * @param unread counts it
 */
export function sendWhole(
  request: Request,
  response: Response<"caller">,
  { status, headers, body }: WholeAnswer,
  unread: UnreadAnswers,
): void {
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name]!);
  endCompressed(request, response, body, () => unread.count(response));
}
