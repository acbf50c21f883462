import { extensionsOf } from "./extensions.ts";
import type { Request, Response } from "./pipeline.ts";

/** Media types as Grafserv writes them. */
const json = "application/json;charset=utf-8";
const modern = "application/graphql-response+json;charset=utf-8";

/** Answers an operation, as Grafserv would. @param data the data that was read, as JSON */
export function sendData(request: Request, response: Response, data: string | Uint8Array): void {
  const extensions = JSON.stringify(extensionsOf(response.locals));
  const [before, after] = ['{"data":', `,"extensions":${extensions}}`];
  const contentType = request.headers.accept!.startsWith("application/json") ? json : modern;
  if (typeof data === "string") {
    const text = before + data + after;
    response.writeHead(200, { "content-type": contentType, "content-length": Buffer.byteLength(text) });
    response.end(text);
  } else {
    const bytes = Buffer.concat([Buffer.from(before), data, Buffer.from(after)]);
    response.writeHead(200, { "content-type": contentType, "content-length": bytes.length });
    response.end(bytes);
  }
}
