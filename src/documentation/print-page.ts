import { assetUrl } from "../html/assets.ts";
import { menuEntry, printDocument } from "../html/frame.ts";
import { html } from "../html/html.ts";
import type { Content, Html } from "../html/html.ts";
import type { VersionDates } from "../versions/timetable.ts";
import { guideGroups, renderFile } from "./guides.ts";
import type { GuideGroup } from "./guides.ts";
import { kinds } from "./model.ts";
import type { Kind } from "./model.ts";

/** The service that the pages document. */
export interface Site {
  /** The documented versions, the recommended one first. */
  versions: readonly Pick<VersionDates, "slug" | "kind" | "state" | "path" | "releasedOn" | "sunsetOn">[];
  /** Whether the service has an explorer. */
  explorer: boolean;
}

export interface Page {
  title: string;
  /** The kind of page, shown above the title. */
  kind?: string;
  /** Content beside the title. */
  aside?: Content;
  /** The description for search engines and previews. */
  summary?: string;
  /** Links in the head, to other formats of the page. */
  links?: Content;
  body: Content;
  /** Headings for the table of contents. */
  headings?: readonly { title: string; id: string; level?: number }[];
  /** For pages of the reference: the version, and the pages of the same kind. */
  version?: string;
  neighbours?: { title: string; pages: readonly { title: string; path: string }[] };
}

/** The path of the documentation. */
export const home = "/docs";
/** The path of the page that is shown for unknown paths. */
export const notFoundPath = `${home}/nowhere`;
/** Paths of the reference of a version. */
export const versionPath = (slug: string) => `${home}/${slug}`;
export const kindPath = (slug: string, kind: Kind) => `${versionPath(slug)}/${kind}`;

/**
 * Renders a page as a document.
 *
 * @param shownKinds the kinds that the menu lists
 */
export function printPage(site: Site, path: string, page: Page, shownKinds: readonly Kind[]): string {
  const { title, version } = page;
  const slug = version ?? site.versions[0]!.slug;
  return printDocument({
    home,
    product: "Documentation",
    windowTitle: `${title}${version === undefined ? "" : ` · ${version}`} · Stock and order documentation`,
    summary: page.summary,
    links: page.links,
    bar: search(slug),
    menu: menu(site, path, slug, page.neighbours, shownKinds),
    aboveTitle: page.kind && html`<p class="kind">${page.kind}</p>`,
    title: breakable(title),
    aside: page.aside,
    body: page.body,
    sidebar: contents(page.headings ?? []),
  });
}

const search = (slug: string): Html =>
  html`<form
    class="search"
    role="search"
    data-search="${versionPath(slug)}/search.json"
    data-engine="${assetUrl(home, "search.js")}"
    data-library="${assetUrl(home, "minisearch.js")}"
    data-home="${home}"
    hidden
  >
    <input
      type="search"
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
    <div class="found" id="found" role="listbox" aria-label="Results" hidden></div>
  </form>`;

/** Returns a name with possible line breaks between its words. */
const breakable = (name: string): Content =>
  name.split(/(?<=[a-z._])(?=[A-Z])/).map((word, index) => html`${index > 0 && html`<wbr />`}${word}`);

function menu(
  site: Site,
  path: string,
  slug: string,
  neighbours: Page["neighbours"],
  shownKinds: readonly Kind[],
): Html {
  const entry = (to: string, title: string) => menuEntry(path, to, breakable(title), to !== home);
  const reference = shownKinds.map((kind) => entry(kindPath(slug, kind), kinds[kind]));
  const isOpen = ({ guides }: GuideGroup) => guides.some((guide) => guide.path === path);
  return html`<ul>
      ${entry(home, "Overview")}
    </ul>
    ${
      neighbours &&
      group(
        neighbours.title,
        neighbours.pages.map((page) => entry(page.path, page.title)),
      )
    }
    ${guideGroups.map((each) =>
      group(
        each.title,
        each.guides.map((guide) => entry(guide.path, renderFile(guide.file).title)),
        isOpen(each),
      ),
    )}
    <h2>Types and fields</h2>
    <p class="codes">
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
      ${reference} ${entry(`${versionPath(slug)}/scopes`, "Scopes")}
    </ul>
    <ul>
      ${entry(`${home}/events`, "Topics of events")} ${entry(`${home}/changelog`, "Changelog")}
      ${entry(`${home}/changes`, "Changes between versions")}
    </ul>`;
}

const group = (title: string, entries: readonly Html[], isOpen = true): Html =>
  html`<details ${isOpen && "open"}>
    <summary><h2>${title}</h2></summary>
    <ul>
      ${entries}
    </ul>
  </details>`;

/** Returns the table of contents of a long page, for wide screens. */
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
