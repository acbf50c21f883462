import { hash } from "node:crypto";
import type { RequestHandler } from "express";
import type { GraphQLSchema } from "postgraphile/graphql";
import { printSdl } from "../../versions/sdl.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import { pathOf } from "../../versions/versions.ts";

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
      printed.set(schema, (file = { sdl, etag: `"${hash("sha256", sdl, "base64url")}"` }));
    }
    response
      .setHeader("etag", file.etag)
      // A browser shows it as text
      .setHeader("content-type", "text/plain; charset=utf-8")
      .setHeader("cache-control", "no-cache");
    if (has(request.get("if-none-match"), file.etag)) response.status(304).end();
    else response.end(file.sdl);
  };
}

/** Whether `If-None-Match` names a version of a file. A proxy that compressed it may have made its tag a weak one. */
function has(header: string | undefined, etag: string): boolean {
  return header?.split(/,\s*/).some((tag) => tag === "*" || tag.replace(/^W\//, "") === etag) ?? false;
}
