import { createReadStream } from "node:fs";
import { Router } from "express";
import type { Request, RequestHandler, Response } from "express";
import type { FindPage, StoredPage } from "../documentation/documentation.ts";
import { fullPath, indexPath } from "../documentation/for-machines.ts";
import { picturePath } from "../documentation/guides.ts";
import { notFoundPath } from "../documentation/print-page.ts";
import { assets, isCurrentVersion } from "../html/assets.ts";
import { pageHeaders } from "../html/headers.ts";
import { sendCompressed } from "./compression.ts";

const pictures = new URL("../../docs/", import.meta.url);

/** Serves the documentation at `/docs`. It is the same for everyone, has no secrets, and needs no token. */
export function documentation(find: FindPage, publicUrl: string | undefined): Router {
  const router = Router();
  // The search on the pages fetches its index
  router.use(pageHeaders(publicUrl, ["connect-src"]));
  router.get("/pictures/*file", sendPicture);
  router.get(["/", "/*page"], createPageSender(find));
  return router;
}

/** Paths of the documentation as text, for programs that read it. */
export const textPaths = [indexPath, fullPath];
export const sendTexts = (find: FindPage, publicUrl: string | undefined): RequestHandler[] => [
  pageHeaders(publicUrl),
  createPageSender(find),
];

/** Paths of the files that pages load: the same files for the documentation and the administration. */
export const assetPaths = ["/docs/assets/:name", "/admin/assets/:name"];
export const sendAssets = (publicUrl: string | undefined): RequestHandler[] => [
  pageHeaders(publicUrl),
  sendAsset,
];

const createPageSender =
  (find: FindPage): RequestHandler =>
  async (request, response) => {
    response.removeHeader("x-robots-tag");
    const path = request.baseUrl + (request.path === "/" ? "" : request.path);
    if (request.originalUrl.split("?")[0] !== path) return response.redirect(301, path);
    const page = await find(path);
    if (page?.type === "redirect") return response.redirect(302, page.content);
    if (page === null || path === notFoundPath) response.status(404);
    sendPage(request, response, (page ?? (await find(notFoundPath)))!);
  };

/** Sends a page that is the same for everyone, unless the client has it already. */
function sendPage(request: Request, response: Response, { type, content, etag }: StoredPage): void {
  response.setHeader("etag", etag);
  response.setHeader("content-type", `${type}; charset=utf-8`);
  response.setHeader("cache-control", "no-cache");
  response.vary("Accept-Encoding");
  if (response.statusCode === 200 && matchesEtag(request.get("if-none-match"), etag))
    return void response.status(304).end();
  sendCompressed(request, response, content);
}

/** Whether `If-None-Match` names a page. `request.fresh` isn't used: with that header, fetch sends `no-cache`. */
function matchesEtag(header: string | undefined, etag: string): boolean {
  const weak = (tag: string) => tag.replace(/^(?:W\/)?/, "W/");
  return header?.split(/,\s*/).some((tag) => tag === "*" || weak(tag) === etag) ?? false;
}

const sendAsset: RequestHandler = (request, response, next) => {
  const asset = assets.get(String(request.params.name));
  if (!asset) return next();
  const isImmutable = isCurrentVersion(String(request.params.name), request.query.v);
  response.setHeader("cache-control", isImmutable ? "public, max-age=31536000, immutable" : "no-cache");
  response.setHeader("content-type", asset.type);
  response.vary("Accept-Encoding");
  sendCompressed(request, response, asset.content);
};

/** The content security policy of diagrams, which contain their styles. */
const diagramPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const sendPicture: RequestHandler = (request, response, next) => {
  const [, name] = picturePath.exec(request.originalUrl) ?? [];
  if (name === undefined) return next();
  response.setHeader("cache-control", "public, max-age=3600");
  const isDiagram = name.endsWith(".svg");
  response.setHeader("content-type", isDiagram ? "image/svg+xml; charset=utf-8" : "image/png");
  if (isDiagram) response.setHeader("content-security-policy", diagramPolicy);
  createReadStream(new URL(name, pictures))
    .once("error", () => next())
    .pipe(response);
};

/** Handles `GET /api/graphql/{version}/schema.graphql`: the schema of a version, which was checked before. */
export const schemaFile =
  (find: FindPage): RequestHandler =>
  async (request, response) => {
    // The path may have escapes, such as un%73table; the version was found by the decoded one
    sendPage(request, response, (await find(decodeURIComponent(request.path)))!);
  };
