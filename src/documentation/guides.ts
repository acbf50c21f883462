import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { renderText } from "./markdown.ts";
import type { FindLink, RenderedText } from "./markdown.ts";

/** The folder of the project. */
export const root = new URL("../../", import.meta.url);

/** A page that is written as a file of Markdown. */
export interface Guide {
  path: string;
  /** From the root of the project. */
  file: string;
}

export interface GuideGroup {
  title: string;
  guides: readonly Guide[];
}

const inFolder = (folder: string, ...names: string[]): Guide[] =>
  names.map((name) => ({ path: `/docs/${folder}/${name}`, file: `docs/${folder}/${name}.md` }));

/** The pages for those who change the service. The search leaves them out. */
const internals: GuideGroup = {
  title: "Internals",
  guides: [
    { path: "/docs/internals/contributing", file: "CONTRIBUTING.md" },
    ...inFolder("internals", "tour", "glossary", "tests", "fast-paths", "benchmarks", "upstream"),
  ],
};

/** All pages that are written, by kind, in the order of the menu. A test finds files that are missing here. */
export const guideGroups: readonly GuideGroup[] = [
  {
    title: "Tutorials",
    guides: inFolder("tutorials", "calling-the-api", "owning-the-database", "changing-the-service"),
  },
  {
    title: "Guides for integrators",
    guides: inFolder(
      "guides",
      ...[
        "loading",
        "exporting",
        "following",
        "stock",
        "purchasing",
        "shipping",
        "webhooks",
        "live",
        "storefront",
      ],
    ),
  },
  {
    title: "Guides for operators",
    guides: inFolder(
      "guides",
      ...[
        "deploying",
        "running",
        "upgrading",
        "runbook",
        "monitoring",
        "replicas",
        "backups",
        "keys",
        "retention",
      ],
      ...["administration", "merchants"],
    ),
  },
  { title: "Guides for DBAs", guides: inFolder("guides", "evolving", "changing-columns") },
  {
    title: "Reference",
    guides: [
      ...inFolder(
        "reference",
        ...[
          "authentication",
          "requests",
          "pagination",
          "filters",
          "aggregates",
          "mutations",
          "events",
          "errors",
        ],
        ...["limits", "versions", "bounds", "commands", "settings"],
      ),
      { path: "/docs/reference/database", file: "db/README.md" },
      ...inFolder("reference", "data-model", "keys-and-types", "functions", "check", "mistakes"),
    ],
  },
  {
    title: "Explanation",
    guides: [
      ...inFolder("explanation", "architecture", "speed", "scale"),
      { path: "/docs/explanation/overview-of-security", file: "SECURITY.md" },
      ...inFolder("explanation", "security"),
    ],
  },
  internals,
];

export const guides: readonly Guide[] = guideGroups.flatMap((group) => group.guides);
/** The pages that the search finds. */
export const searchedGuides: readonly Guide[] = guides.filter((guide) => !internals.guides.includes(guide));

/** The changelog, which is a page of its own. */
export const changelogFile = "CHANGELOG.md";

const pathsOfFiles = new Map([
  ...guides.map((guide): [string, string] => [guide.file, guide.path]),
  [changelogFile, "/docs/changelog"],
  ["README.md", "/docs"],
  ["docs/README.md", "/docs"],
  ["docs/events/README.md", "/docs/events"],
]);

/** Other names of pages: from before they were divided by kind, and those that readers guess. */
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
  ["performance", "/docs/explanation/speed"],
  ["decisions", "/docs/internals/contributing"],
]);

/** A name without what is easily mistyped: case, hyphens, an extension, a plural. */
export const plain = (name: string): string => name.toLowerCase().replace(/\.\w+$|(?<=.)[-_\s]|s\b/g, "");
/** The last part of a path. */
export const lastOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** The page that an address without a page means: by another name, or a similar last part; null when there is none. */
export function meantGuide(path: string): string | null {
  const name = lastOf(path);
  const meant = guides.find((guide) => plain(lastOf(guide.path)) === plain(name));
  return otherNames.get(name.toLowerCase()) ?? meant?.path ?? null;
}

const isWritten = (path: string): boolean =>
  path === "/docs/changelog" || guides.some((guide) => guide.path === path);

/** Pictures that guides show. */
export const picturePath = /^\/docs\/pictures\/((?:administration\/)?[\w-]+\.png|diagrams\/\w+\.svg)$/;

/**
 * Where links of a file lead on these pages.
 *
 * @param formOf makes the address of a written page, unless that is its path
 */
export function linksOf(file: string, formOf = (path: string) => path): FindLink {
  return (address) => {
    if (/^https?:/.test(address) || address.startsWith("#")) return address;
    const [path = "", anchor] = address.split("#");
    const target = posix.join(posix.dirname(file), path);
    const hash = anchor === undefined ? "" : `#${anchor}`;
    const page = pathsOfFiles.get(target);
    if (page !== undefined) return (isWritten(page) ? formOf(page) : page) + hash;
    const picture = /^docs\/((?:administration\/)?[\w-]+\.png)$/.exec(target);
    if (picture) return `/docs/pictures/${picture[1]}`;
    const event = /^docs\/events\/([\w.]+)\.json$/.exec(target);
    if (event) return `/docs/events/${event[1]}`;
    return null;
  };
}

const known = new Map<string, RenderedText>();

/** A file as a page. */
export function renderFile(file: string): RenderedText {
  let rendered = known.get(file);
  if (!rendered) {
    rendered = renderText(readFileSync(new URL(file, root), "utf8"), linksOf(file));
    known.set(file, rendered);
  }
  return rendered;
}
