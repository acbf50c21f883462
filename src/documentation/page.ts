import { html } from "../administration/html.ts";
import type { Content, Html } from "../administration/html.ts";
import type { VersionDates } from "../versions/timetable.ts";
import { assetUrl } from "./assets.ts";
import { guideGroups, outlineOf } from "./guides.ts";
import { kinds } from "./model.ts";
import type { Kind } from "./model.ts";

/** What all pages of this service have in common. */
export interface Site {
  /** The versions that are documented: the recommended one first. */
  versions: readonly Pick<VersionDates, "slug" | "kind" | "state" | "path" | "releasedOn" | "sunsetOn">[];
  /** Whether the service has an explorer. */
  explorer: boolean;
}

export interface Page {
  title: string;
  /** A word above the title: what kind of page it is. */
  kind?: string;
  /** Beside the title. */
  aside?: Content;
  /** For search engines and previews. */
  summary?: string;
  body: Content;
  /** What is on the page. */
  headings?: readonly { title: string; id: string; level?: number }[];
  /** Within the reference: the version, and the pages beside this one. */
  version?: string;
  neighbours?: { title: string; pages: readonly { title: string; path: string }[] };
}

/** The path of the documentation. */
export const home = "/docs";
/** The page that is shown where there is none. */
export const nowhere = `${home}/nowhere`;
/** Paths of the reference of a version. */
export const versionPath = (slug: string) => `${home}/${slug}`;
export const kindPath = (slug: string, kind: Kind) => `${versionPath(slug)}/${kind}`;

/** Renders a page as a document. */
export function printPage(site: Site, path: string, page: Page): string {
  const { title, version } = page;
  const slug = version ?? site.versions[0]!.slug;
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${page.summary && html`<meta name="description" content="${page.summary}" />`}
        <title>${title}${version && ` · ${version}`} · Stock and order documentation</title>
        <link rel="stylesheet" href="${assetUrl("style.css")}" />
        <link rel="icon" type="image/svg+xml" href="${assetUrl("icon.svg")}" />
        <script src="${assetUrl("docs.js")}" defer></script>
      </head>
      <body class="docs" data-search="${versionPath(slug)}/search.json" data-home="${home}">
        <a class="skip" href="#content">Skip to content</a>
        ${header(slug)}
        <div class="frame">
          ${sidebar(site, path, slug, page.neighbours)}
          <main id="content" tabindex="-1">
            <div class="heading">
              ${page.kind && html`<p class="kind">${page.kind}</p>`}
              <div class="title">
                <h1>${breakable(title)}</h1>
                ${page.aside && html`<div class="aside">${page.aside}</div>`}
              </div>
            </div>
            ${page.body}
          </main>
          ${contents(page.headings ?? [])}
        </div>
        <p class="announcement" role="status" aria-live="polite" id="announcement"></p>
      </body>
    </html>`;
  return document.toString();
}

function header(slug: string): Html {
  return html`<header class="top-bar">
    <a class="home" href="${home}"
      ><img src="${assetUrl("icon.svg")}" alt="" width="28" height="28" /><span
        ><strong>Stock and order</strong> <span class="quiet">Documentation</span></span
      ></a
    >
    <form class="search" role="search" hidden>
      <input
        type="search"
        id="search"
        role="combobox"
        aria-label="Search in ${slug} and the guides"
        aria-expanded="false"
        aria-controls="found"
        aria-autocomplete="list"
        placeholder="Search"
        autocomplete="off"
        spellcheck="false"
      />
      <kbd aria-hidden="true">/</kbd>
      <div class="found" id="found" role="listbox" aria-label="What was found" hidden></div>
    </form>
    <button type="button" class="plain menu" aria-expanded="false" aria-controls="menu" hidden>Menu</button>
  </header>`;
}

const current = (present: string, path: string): Content =>
  present === path
    ? html`aria-current="page"`
    : path !== home && present.startsWith(`${path}/`) && html`aria-current="true"`;

const entry = (present: string, path: string, title: string): Html =>
  html`<li><a href="${path}" ${current(present, path)}>${breakable(title)}</a></li>`;

/** A name that may be broken between its words. */
const breakable = (name: string): Content =>
  name.split(/(?<=[a-z._])(?=[A-Z])/).map((word, index) => html`${index > 0 && html`<wbr />`}${word}`);

function sidebar(site: Site, path: string, slug: string, neighbours: Page["neighbours"]): Html {
  const reference = Object.entries(kinds).map(([kind, title]) =>
    entry(path, kindPath(slug, kind as Kind), title),
  );
  const isGuide = path.startsWith(`${home}/guides/`);
  return html`<nav class="contents" id="menu" aria-label="Documentation">
    <ul>
      ${entry(path, home, "Overview")} ${entry(path, `${home}/events`, "Events")}
      ${entry(path, `${home}/changelog`, "Changelog")}
      ${entry(path, `${home}/changes`, "Changes between versions")}
    </ul>
    ${
      neighbours &&
      group(
        neighbours.title,
        neighbours.pages.map((page) => entry(path, page.path, page.title)),
      )
    }
    <h2>Reference</h2>
    <p class="versions">
      ${site.versions.map(
        (each) =>
          html`<a
            class="badge"
            href="${versionPath(each.slug)}"
            ${each.slug === slug && html`aria-current="true"`}
            >${each.slug}</a
          >`,
      )}
    </p>
    <ul>
      ${reference} ${entry(path, `${versionPath(slug)}/scopes`, "Scopes")}
    </ul>
    ${guideGroups.map(({ title, guides }) =>
      group(
        title,
        guides.map((guide) => entry(path, `${home}/guides/${guide.slug}`, outlineOf(guide).title)),
        isGuide,
      ),
    )}
  </nav>`;
}

const group = (title: string, entries: readonly Html[], isOpen = true): Html =>
  html`<details ${isOpen && "open"}>
    <summary><h2>${title}</h2></summary>
    <ul>
      ${entries}
    </ul>
  </details>`;

/** What is on a long page, where there is room beside it. */
function contents(headings: NonNullable<Page["headings"]>): Content {
  if (headings.length < 3) return null;
  return html`<nav class="on-page" aria-label="On this page">
    <h2>On this page</h2>
    <ul>
      ${headings.map(
        ({ title, id, level = 2 }) => html`<li class="level-${level}"><a href="#${id}">${title}</a></li>`,
      )}
    </ul>
  </nav>`;
}
