import type { StoredPage } from "../documentation/documentation.ts";
import { addVary } from "./answers.ts";
import { endCompressed } from "./compression.ts";
import type { Request, Response } from "./pipeline.ts";

/** Sends a page that is the same for everyone, unless the client has it: compressed, where that pays. */
export function sendPage(request: Request, response: Response, { type, content, etag }: StoredPage): void {
  response.setHeader("etag", etag);
  response.setHeader("content-type", `${type}; charset=utf-8`);
  response.setHeader("cache-control", "no-cache");
  addVary(response, "Accept-Encoding");
  if (response.statusCode === 200 && has(request.headers["if-none-match"], etag)) {
    response.statusCode = 304;
    return void response.end();
  }
  endCompressed(request, response, content);
}

/** Whether `If-None-Match` names a version of a file. */
function has(header: string | undefined, etag: string): boolean {
  const weak = (tag: string) => tag.replace(/^(?:W\/)?/, "W/");
  return header?.split(/,\s*/).some((tag) => tag === "*" || weak(tag) === etag) ?? false;
}
