import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

const assetFile = (name: string): URL => new URL(`./assets/${name}`, import.meta.url);

/** The files that pages load, each with its media type. */
const files = {
  "style.css": ["text/css", assetFile("style.css")],
  "script.js": ["text/javascript", assetFile("script.js")],
  "icon.svg": ["image/svg+xml", assetFile("icon.svg")],
  // Modules that the script loads for the search
  "search.js": ["text/javascript", assetFile("search.js")],
  "minisearch.js": ["text/javascript", new URL(import.meta.resolve("minisearch"))],
} as const;

export type AssetName = keyof typeof files;

/** A file that pages load. */
export interface Asset {
  type: string;
  content: string;
}

/** The files that pages load, by name. The documentation and the administration share them. */
export const assets: ReadonlyMap<string, Asset> = new Map(
  Object.entries(files).map(([name, [type, file]]) => [
    name,
    { type: `${type}; charset=utf-8`, content: readFileSync(file, "utf8") },
  ]),
);

const versions = new Map(
  [...assets].map(([name, { content }]) => [name, hash("sha256", content).slice(0, 12)]),
);

/** Whether a file has the version that a URL names. Another process may have another build. */
export const isCurrentVersion = (name: string, version: unknown): boolean => versions.get(name) === version;

/** Returns the URL of a file below the home path. It changes with the file's content. */
export const assetUrl = (home: string, name: AssetName): string =>
  `${home}/assets/${name}?v=${versions.get(name)}`;
