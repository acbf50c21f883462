import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { renderText } from "./markdown.ts";
import type { FindLink, RenderedText } from "./markdown.ts";

const root = new URL("../../", import.meta.url);

/** A guide: a page that is written by hand, or a generated one beside those. */
export interface Guide {
  slug: string;
  /** From the root of the project. */
  file: string;
}

export interface GuideGroup {
  title: string;
  /** For whom. */
  about: string;
  guides: readonly Guide[];
}

const inDocs = (...slugs: string[]): Guide[] => slugs.map((slug) => ({ slug, file: `docs/${slug}.md` }));

/** The guides, by who reads them. A guide that isn't listed is not shown, which a test finds. */
export const guideGroups: readonly GuideGroup[] = [
  {
    title: "Using the API",
    about: "You write a program that calls the API, or receives its webhooks.",
    guides: inDocs(
      "quickstart",
      "api",
      "loading",
      "stock",
      "purchasing",
      "shipping",
      "webhooks",
      "storefront",
      "live",
      "errors",
    ),
  },
  {
    title: "Running it",
    about: "You operate the service, or own its database.",
    guides: [
      ...inDocs(
        "quickstart-database",
        "deploying",
        "operating",
        "backups",
        "retention",
        "settings",
        "merchants",
        "administration",
        "upgrading",
      ),
      { slug: "security", file: "SECURITY.md" },
      ...inDocs("performance", "scale"),
    ],
  },
  {
    title: "Changing it",
    about: "You add tables, fields and mutations, or change the service itself.",
    guides: [
      ...inDocs("quickstart-developer"),
      { slug: "contributing", file: "CONTRIBUTING.md" },
      ...inDocs("evolving", "check"),
      { slug: "database", file: "db/README.md" },
      ...inDocs("data-model", "architecture", "decisions"),
    ],
  },
];

export const guides: readonly Guide[] = guideGroups.flatMap((group) => group.guides);

export const guidePath = ({ slug }: Guide): string => `/docs/guides/${slug}`;

/** The changelog, which is a page of its own. */
export const changelogFile = "CHANGELOG.md";

const pathsOfFiles = new Map([
  ...guides.map((guide): [string, string] => [guide.file, guidePath(guide)]),
  [changelogFile, "/docs/changelog"],
  ["README.md", "/docs"],
  ["docs/events/README.md", "/docs/events"],
]);

/** Pictures that guides show. */
export const picturePath = /^\/docs\/pictures\/((?:administration\/)?[\w-]+\.png|diagrams\/\w+\.svg)$/;

/** Where links of a file lead on these pages. */
function linksOf(file: string): FindLink {
  return (address) => {
    if (/^https?:/.test(address) || address.startsWith("#")) return address;
    const [path = "", anchor] = address.split("#");
    const target = posix.join(posix.dirname(file), path);
    const hash = anchor === undefined ? "" : `#${anchor}`;
    const page = pathsOfFiles.get(target);
    if (page !== undefined) return page + hash;
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
