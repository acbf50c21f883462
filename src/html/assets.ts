import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

const types = { "style.css": "text/css", "script.js": "text/javascript", "icon.svg": "image/svg+xml" };

export type AssetName = keyof typeof types;

/** A file that pages load. */
export interface Asset {
  type: string;
  content: string;
}

/** The files that pages load, by name: the same for the documentation and the administration. */
export const assets: ReadonlyMap<string, Asset> = new Map(
  Object.entries(types).map(([name, type]) => [
    name,
    {
      type: `${type}; charset=utf-8`,
      content: readFileSync(new URL(`./assets/${name}`, import.meta.url), "utf8"),
    },
  ]),
);

const versions = new Map(
  [...assets].map(([name, { content }]) => [name, hash("sha256", content).slice(0, 12)]),
);

/** Whether a file has the content that an address names. Other processes may have another build. */
export const isPresent = (name: string, version: unknown): boolean => versions.get(name) === version;

/** The address of a file below the home of some pages. It changes with the content. */
export const assetUrl = (home: string, name: AssetName): string =>
  `${home}/assets/${name}?v=${versions.get(name)}`;
