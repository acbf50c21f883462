import { compress, encodingFor } from "./compression.ts";
import { extensionsOf } from "./extensions.ts";
import type { Request, Response } from "./pipeline.ts";
import type { UnreadAnswers } from "./unread-answers.ts";

/** Media types as Grafserv writes them. */
const json = "application/json;charset=utf-8";
const modern = "application/graphql-response+json;charset=utf-8";

/**
 * Answers an operation, as Grafserv would, compressed where that pays.
 *
 * @param data the data that was read, as JSON
 * @param unread counts the answer
 */
export function sendData(
  request: Request,
  response: Response,
  data: string | Uint8Array,
  unread: UnreadAnswers,
): void {
  const extensions = JSON.stringify(extensionsOf(response.locals));
  const [before, after] = ['{"data":', `,"extensions":${extensions}}`];
  const body =
    typeof data === "string"
      ? before + data + after
      : Buffer.concat([Buffer.from(before), data, Buffer.from(after)]);
  const bytes = Buffer.byteLength(body);
  const contentType = request.headers.accept!.startsWith("application/json") ? json : modern;
  const send = (sent: string | Buffer, length: number, encoding: Record<string, string>) => {
    response.writeHead(200, { "content-type": contentType, "content-length": length, ...encoding });
    response.end(sent);
    unread.count(response);
  };
  const encoding = encodingFor(request, bytes);
  if (encoding === null) return send(body, bytes, {});
  compress(body, encoding, (error, compressed) => {
    if (response.closed) return;
    if (error) send(body, bytes, {});
    else send(compressed, compressed.length, { "content-encoding": encoding });
  });
}
