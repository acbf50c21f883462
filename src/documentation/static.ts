import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { assets } from "../html/assets.ts";
import type { Edition } from "./edition.ts";
import { picturePath } from "./guides.ts";
import type { Site } from "./print-page.ts";
import { home } from "./print-page.ts";
import { listPaths, render } from "./routes.ts";
import type { Rendered } from "./routes.ts";
import type { searchIndex } from "./search-index.ts";

/** Matches addresses of pages and schemas in attributes. */
const addresses =
  /\b(href|src|data-(?:search|engine|library|home))="(\/(?:docs|api\/graphql|llms)(?:[/.-][^"#?]*)?)(?:\?[^"#]*)?(#[^"]*)?"/g;

/** Matches these addresses in Markdown. */
const markdownAddresses = /\]\((\/(?:docs|api\/graphql|llms)(?:[/.-][^)#]*)?)(#[^)]*)?\)/g;

/** Returns the file of a path, relative to the folder of the copy. */
function toFilePath(path: string): string {
  const [, slug] = /^\/api\/graphql\/([^/]+)\/schema\.graphql$/.exec(path) ?? [];
  if (slug !== undefined) return `${slug}/schema.graphql`;
  if (path === home) return "index.html";
  if (!path.startsWith(`${home}/`)) return path.slice(1);
  const file = path.slice(home.length + 1);
  return /\.(css|js|json|svg|png|md|atom)$/.test(file) ? file : `${file}.html`;
}

/** Makes the links of a document relative, so that the folder can be served at any path. */
function makeLinksRelative(document: string, path: string): string {
  const folder = posix.dirname(toFilePath(path));
  return document.replace(addresses, (_all, name: string, target: string, hash = "") => {
    // The script adds the paths of the index
    const file = name === "data-home" ? "." : toFilePath(target);
    return `${name}="${posix.relative(folder, file) || "."}${hash}"`;
  });
}

/** Makes the links of a Markdown text relative. */
function makeMarkdownRelative(text: string, path: string): string {
  const folder = posix.dirname(toFilePath(path));
  return text.replace(
    markdownAddresses,
    (_all, target: string, hash = "") => `](${posix.relative(folder, toFilePath(target))}${hash})`,
  );
}

/** Makes the paths of the search's index relative. */
function makeIndexRelative(content: string): string {
  const { entries, synonyms } = JSON.parse(content) as ReturnType<typeof searchIndex>;
  return JSON.stringify({
    synonyms,
    entries: entries.map(([title, kind, path, ...more]) => [
      title,
      kind,
      path.replace(/(#|$)/, ".html$1"),
      ...more,
    ]),
  });
}

/** Returns the content of a file of the copy. */
function makeContentRelative({ type, content }: Rendered, path: string): string {
  if (path.endsWith("/search.json")) return makeIndexRelative(content);
  if (type === "text/html" || type === "application/atom+xml") return makeLinksRelative(content, path);
  return /\.(md|txt)$/.test(path) ? makeMarkdownRelative(content, path) : content;
}

/** Writes the documentation as files, for any web server. @returns the number of files */
export async function writeStatic(site: Site, editions: readonly Edition[], folder: string): Promise<number> {
  const written = new Set<string>();
  const pathTo = async (path: string) => {
    const target = join(folder, toFilePath(path));
    written.add(target);
    await mkdir(dirname(target), { recursive: true });
    return target;
  };
  const pictures = new Set<string>();
  for (const path of listPaths(editions)) {
    const rendered = (await render(site, editions, path))!;
    for (const [, picture] of rendered.content.matchAll(/src="(\/docs\/pictures\/[^"]+)"/g))
      pictures.add(picture!);
    await writeFile(await pathTo(path), makeContentRelative(rendered, path));
  }
  for (const [name, { content }] of assets) await writeFile(await pathTo(`${home}/assets/${name}`), content);
  for (const picture of pictures) {
    const source = new URL(`../../docs/${picturePath.exec(picture)![1]}`, import.meta.url);
    await copyFile(fileURLToPath(source), await pathTo(picture));
  }
  return written.size;
}
