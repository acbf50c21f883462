import { hash } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import type { GraphQLSchema } from "postgraphile/graphql";
import { printSdl } from "../../versions/sdl.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import { pathOf } from "../../versions/versions.ts";
import { compress, encodingFor } from "../compression.ts";

/** Path of the SDL of a version. */
export const schemaFilePath = `${pathOf({ slug: ":version" })}/schema.graphql`;

/**
 * `GET /api/graphql/{version}/schema.graphql`: the schema in the schema definition language, with the scopes of its
 * fields. It is the same for everyone, and needs no token. Comes after `findVersion`.
 */
export function schemaFile(served: readonly ServedVersion[]): RequestHandler {
  const printed = new WeakMap<GraphQLSchema, { sdl: string; etag: string }>();
  return (request, response) => {
    const { schema } = served.find(({ version }) => version === response.locals.version)!.current();
    let file = printed.get(schema);
    if (!file) {
      const sdl = printSdl(schema);
      printed.set(schema, (file = { sdl, etag: `W/"${hash("sha256", sdl, "base64url")}"` }));
    }
    response
      .setHeader("etag", file.etag)
      // A browser shows it as text
      .setHeader("content-type", "text/plain; charset=utf-8")
      .setHeader("cache-control", "no-cache");
    if (has(request.get("if-none-match"), file.etag)) response.status(304).end();
    else sendText(request, response, file.sdl);
  };
}

function sendText(request: Request, response: Response, text: string): void {
  response.vary("Accept-Encoding");
  const encoding = encodingFor(request, text.length);
  if (encoding === null) return void response.end(text);
  compress(text, encoding, (error, compressed) => {
    if (!error) response.setHeader("content-encoding", encoding);
    response.end(error ? text : compressed);
  });
}

/** Whether `If-None-Match` names a version of a file. Its tag is weak, because it is the same for each encoding. */
function has(header: string | undefined, etag: string): boolean {
  const weak = (tag: string) => tag.replace(/^(?:W\/)?/, "W/");
  return header?.split(/,\s*/).some((tag) => tag === "*" || weak(tag) === etag) ?? false;
}
