import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { renderText } from "./markdown.ts";
import type { FindLink, RenderedText } from "./markdown.ts";

/** The root folder of the project. */
export const root = new URL("../../", import.meta.url);

/** A page from a Markdown file. */
export interface Guide {
  path: string;
  /** The file's path from the root of the project. */
  file: string;
}

export interface GuideGroup {
  title: string;
  guides: readonly Guide[];
}

/** Pages whose address doesn't follow from the file. */
const otherPaths: Record<string, string> = {
  "CONTRIBUTING.md": "/docs/internals/contributing",
  "SECURITY.md": "/docs/explanation/overview-of-security",
  "db/README.md": "/docs/reference/database",
};

/** Returns the pages that a section of docs/README.md links to, in its order. */
function readGroup(section: string): GuideGroup {
  const links = [...section.matchAll(/\]\(([\w./-]+\.md)\)/g)].map(([, link]) => posix.join("docs", link!));
  const files = links.filter((file) => file in otherPaths || !file.endsWith("/README.md"));
  return {
    title: section.slice(0, section.indexOf("\n")),
    guides: files.map((file) => ({ file, path: otherPaths[file] ?? `/${file.replace(/\.md$/, "")}` })),
  };
}

/** All pages from Markdown files, by kind, in the order of the menu. A test finds files that are missing in docs/README.md. */
export const guideGroups: readonly GuideGroup[] = readFileSync(new URL("docs/README.md", root), "utf8")
  .split(/^## /m)
  .slice(1)
  .map(readGroup);

/** The pages for developers of the service. The search leaves them out. */
const internals = guideGroups.at(-1)!;

export const guides: readonly Guide[] = guideGroups.flatMap((group) => group.guides);
/** The pages that the search finds. */
export const searchedGuides: readonly Guide[] = guides.filter((guide) => !internals.guides.includes(guide));

/** The changelog, which has a page outside the groups. */
export const changelogFile = "CHANGELOG.md";

const pathsOfFiles = new Map([
  ...guides.map((guide): [string, string] => [guide.file, guide.path]),
  [changelogFile, "/docs/changelog"],
  ["README.md", "/docs"],
  ["docs/README.md", "/docs"],
  ["docs/events/README.md", "/docs/events"],
]);

/** Other names of pages: earlier ones, and ones that readers may guess. */
const otherNames = new Map([
  ["auth", "/docs/reference/authentication"],
  ["getting-started", "/docs/tutorials/calling-the-api"],
  ["graphql", "/docs/reference/requests"],
  ["rate-limits", "/docs/reference/limits"],
  ["search", "/docs/reference/filters"],
  ["sorting", "/docs/reference/pagination"],
  ["api", "/docs/reference/requests"],
  ["quickstart", "/docs/tutorials/calling-the-api"],
  ["quickstart-database", "/docs/tutorials/owning-the-database"],
  ["quickstart-developer", "/docs/tutorials/changing-the-service"],
  ["operating", "/docs/guides/runbook"],
  ["holding", "/docs/guides/state-of-stock"],
  ["performance", "/docs/explanation/speed"],
  ["decisions", "/docs/internals/contributing"],
  ["upgrading", "/docs/guides/running"],
]);

/** Normalizes a name: removes case, hyphens, an extension and a plural. */
export const normalizeName = (name: string): string =>
  name.toLowerCase().replace(/\.\w+$|(?<=.)[-_\s]|s\b/g, "");
/** Returns the last part of a path. */
export const getLastPart = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Returns the page for an address that doesn't exist, by another name or a similar last part; null when there is none. */
export function findSimilarGuide(path: string): string | null {
  const name = getLastPart(path);
  const similar = guides.find((guide) => normalizeName(getLastPart(guide.path)) === normalizeName(name));
  return otherNames.get(name.toLowerCase()) ?? similar?.path ?? null;
}

const isGuidePath = (path: string): boolean =>
  path === "/docs/changelog" || guides.some((guide) => guide.path === path);

/** Matches the paths of pictures in guides. */
export const picturePath = /^\/docs\/pictures\/((?:administration\/)?[\w-]+\.png|diagrams\/\w+\.svg)$/;

/**
 * Returns a function that finds the address of a link in a file.
 *
 * @param toAddress returns the address of a guide, if it isn't the guide's path
 */
export function createLinkFinder(file: string, toAddress = (path: string) => path): FindLink {
  return (address) => {
    if (/^https?:/.test(address) || address.startsWith("#")) return address;
    const [path = "", anchor] = address.split("#");
    const target = posix.join(posix.dirname(file), path);
    const hash = anchor === undefined ? "" : `#${anchor}`;
    const page = pathsOfFiles.get(target);
    if (page !== undefined) return (isGuidePath(page) ? toAddress(page) : page) + hash;
    const picture = /^docs\/((?:administration\/)?[\w-]+\.png)$/.exec(target);
    if (picture) return `/docs/pictures/${picture[1]}`;
    const event = /^docs\/events\/([\w.]+)\.json$/.exec(target);
    if (event) return `/docs/events/${event[1]}`;
    return null;
  };
}

const renderedFiles = new Map<string, RenderedText>();

/** Renders a file as a page. */
export function renderFile(file: string): RenderedText {
  let rendered = renderedFiles.get(file);
  if (!rendered) {
    rendered = renderText(readFileSync(new URL(file, root), "utf8"), createLinkFinder(file));
    renderedFiles.set(file, rendered);
  }
  return rendered;
}
