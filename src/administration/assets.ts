import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RequestHandler } from "express";

const types = { "style.css": "text/css", "script.js": "text/javascript", "icon.svg": "image/svg+xml" };

interface Asset {
  type: string;
  content: Buffer;
  url: string;
}

const assets = new Map<string, Asset>(
  Object.entries(types).map(([name, type]) => {
    const content = readFileSync(new URL(`./assets/${name}`, import.meta.url));
    const version = createHash("sha256").update(content).digest("hex").slice(0, 12);
    return [name, { type: `${type}; charset=utf-8`, content, url: `/admin/assets/${name}?v=${version}` }];
  }),
);

/** The address of a file. It changes with the content. */
export function assetUrl(name: keyof typeof types): string {
  return assets.get(name)!.url;
}

/** Serves the files that pages load. */
export const serveAsset: RequestHandler = (request, response, next) => {
  const asset = assets.get(String(request.params.name));
  if (!asset) return next();
  response.setHeader("cache-control", "public, max-age=31536000, immutable");
  response.setHeader("content-type", asset.type);
  response.end(asset.content);
};
