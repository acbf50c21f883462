import { readFileSync } from "node:fs";
import { hash } from "node:crypto";

/** The administration's style comes first: colours, buttons and badges are the same. */
const sources = {
  "style.css": { type: "text/css", files: ["../administration/assets/style.css", "./assets/docs.css"] },
  "docs.js": { type: "text/javascript", files: ["./assets/docs.js"] },
  "icon.svg": { type: "image/svg+xml", files: ["../administration/assets/icon.svg"] },
};

export type AssetName = keyof typeof sources;

/** A file that pages load. */
export interface Asset {
  type: string;
  content: string;
  /** Changes with the content. */
  url: string;
}

export const assets: ReadonlyMap<string, Asset> = new Map(
  Object.entries(sources).map(([name, { type, files }]) => {
    const content = files.map((file) => readFileSync(new URL(file, import.meta.url), "utf8")).join("\n");
    const url = `/docs/assets/${hash("sha256", content).slice(0, 12)}/${name}`;
    return [name, { type: `${type}; charset=utf-8`, content, url }];
  }),
);

/** The address of a file. */
export const assetUrl = (name: AssetName): string => assets.get(name)!.url;
