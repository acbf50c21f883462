import { printSdl } from "../graphql/print-sdl.ts";
import { html } from "../html/html.ts";
import { pathOf as endpointOf } from "../versions/versions.ts";
import { changesIndex, changesPage, changesPath, pathBetween } from "./changes.ts";
import { changelogFeed, changelogPath, feedLink, feedPath } from "./changelog-feed.ts";
import { createCollection } from "./collection.ts";
import type { Edition, PackedEdition } from "./edition.ts";
import { unpackEdition } from "./edition.ts";
import { eventPage, eventPath, eventsPage, eventsPath } from "./events.ts";
import {
  allPages,
  fullPath,
  indexPath,
  machineIndex,
  convertToMarkdown,
  markdownPath,
} from "./for-machines.ts";
import { changelogFile, guides, getLastPart, findSimilarGuide, normalizeName, renderFile } from "./guides.ts";
import type { Guide } from "./guides.ts";
import { homePage } from "./home.ts";
import type { Member } from "./model.ts";
import { isField, kinds, Model, getKindName } from "./model.ts";
import type { Page, Site } from "./print-page.ts";
import { home, kindPath, notFoundPath, printPage, versionPath } from "./print-page.ts";
import { rootFieldParts } from "./reference/fields.ts";
import { kindPage, scopesPage, versionPage } from "./reference/kinds.ts";
import { getMemberPath } from "./reference/links.ts";
import { typeParts } from "./reference/types.ts";
import { searchIndex } from "./search-index.ts";

/** A file to send. */
export interface Rendered {
  /** The content of a redirect is its target path. */
  type:
    | "text/html"
    | "text/markdown"
    | "text/plain"
    | "application/json"
    | "application/atom+xml"
    | "redirect";
  content: string;
}

/** A path, and the function that returns its page or file. */
type Route = [path: string, make: (site: Site) => Page | Rendered | Promise<Page>];
type Routes = ReadonlyMap<Route[0], Route[1]>;

/** The arguments for rendering a page: the site, its editions, and the path. */
export type RenderTask = [site: Site, editions: readonly PackedEdition[], path: string];

/** Renders a page. Called in a worker thread. */
export const renderPage = ([site, editions, path]: RenderTask): Promise<Rendered | null> =>
  render(site, editions.map(unpackEdition), path);

/** Renders the page at a path. Returns null when there is none. */
export async function render(
  site: Site,
  editions: readonly Edition[],
  path: string,
): Promise<Rendered | null> {
  const slug = path.split("/")[path.startsWith("/api/") ? 3 : 2];
  const edition = editions.find((each) => each.slug === slug);
  const routes = edition ? getRoutes(edition) : createGeneralRoutes(editions);
  const make = routes.get(path);
  const reference = edition ?? editions.find((each) => each.slug === site.versions[0]?.slug);
  if (!make) return findRedirect(path, routes, reference);
  const result = await make(site);
  if ("content" in result) return result;
  return { type: "text/html", content: printPage(site, path, result, getModel(reference!).kinds) };
}

/**
 * Returns a redirect from an address that doesn't exist to a similar one: the same in other case, a guide, or a name in the
 * reference. Null when none is similar.
 */
function findRedirect(path: string, routes: Routes, reference: Edition | undefined): Rendered | null {
  const sameInOtherCase = routes.keys().find((known) => known.toLowerCase() === path.toLowerCase());
  const content =
    sameInOtherCase ??
    findSimilarGuide(path) ??
    (reference && findSimilarPath(getRoutes(reference), getLastPart(path)));
  return content === undefined ? null : { type: "redirect", content };
}

/** Returns the path that ends with a name, or with a similar one. */
function findSimilarPath(routes: Routes, name: string): string | undefined {
  const paths = [...routes.keys()];
  return (
    paths.find((path) => getLastPart(path) === name) ??
    paths.find((path) => normalizeName(getLastPart(path)) === normalizeName(name))
  );
}

/** Returns all paths, for a static copy. */
export const listPaths = (editions: readonly Edition[]): string[] =>
  [createGeneralRoutes(editions), ...editions.map(getRoutes)].flatMap((routes) => [...routes.keys()]);

const cache = new WeakMap<Edition, { model: Model; routes: Routes }>();

/** Returns the model and the routes of a version, which are cached. */
function getCached(edition: Edition): { model: Model; routes: Routes } {
  let cached = cache.get(edition);
  if (!cached) {
    const model = new Model(edition);
    cache.set(edition, (cached = { model, routes: new Map(createRoutes(model)) }));
  }
  return cached;
}

const getModel = (edition: Edition): Model => getCached(edition).model;
const getRoutes = (edition: Edition): Routes => getCached(edition).routes;

function createRoutes(model: Model): Route[] {
  const { slug } = model.edition;
  const base = versionPath(slug);
  return [
    [base, (site) => versionPage(site, model)],
    [`${base}/scopes`, () => scopesPage(model)],
    [`${base}/search.json`, () => json(searchIndex(model))],
    [`${base}/collection.json`, () => json(createCollection(model), 1)],
    // A browser shows it as text
    [
      `${endpointOf({ slug })}/schema.graphql`,
      () => ({ type: "text/plain", content: printSdl(model.schema) }),
    ],
    ...model.kinds.map((kind): Route => [kindPath(slug, kind), () => kindPage(model, kind)]),
    ...[...model.rootFields, ...model.types].map((member): Route => [
      getMemberPath(model, member),
      () => memberPage(model, member),
    ]),
  ];
}

/** Returns the page of a type, or of a root field. */
function memberPage(model: Model, member: Member): Page {
  const kind = model.kindOf(member);
  const neighbours = model
    .ofKind(kind)
    .map((each) => ({ title: each.name, path: getMemberPath(model, each) }));
  return {
    title: member.name,
    kind: getKindName(kind),
    version: model.edition.slug,
    neighbours: { title: kinds[kind], pages: neighbours },
    ...(isField(member) ? rootFieldParts(model, member) : typeParts(model, member)),
  };
}

/** Returns the pages and files that all versions share. */
function createGeneralRoutes(editions: readonly Edition[]): Routes {
  const [{ topics }] = editions as [Edition];
  return new Map<Route[0], Route[1]>([
    [home, homePage],
    [notFoundPath, () => notFoundPage],
    [eventsPath, () => eventsPage(topics)],
    [changesPath, changesIndex],
    [changelogPath, changelogPage],
    [feedPath, () => ({ type: "application/atom+xml", content: changelogFeed() })],
    [indexPath, (site) => ({ type: "text/plain", content: machineIndex(site) })],
    [fullPath, () => ({ type: "text/plain", content: allPages() })],
    ...[...guides, { path: changelogPath, file: changelogFile }].map(({ path, file }): Route => [
      markdownPath(path),
      () => ({ type: "text/markdown", content: convertToMarkdown(file) }),
    ]),
    ...guides.map((guide, index): Route => [
      guide.path,
      () => guidePage(guide, guides[index - 1], guides[index + 1]),
    ]),
    ...topics.map((topic): Route => [eventPath(topic.name), () => eventPage(topics, topic)]),
    ...topics.map(({ name, schema }): Route => [`${eventPath(name)}.json`, () => json(schema, 2)]),
    ...editions.flatMap((from) =>
      editions
        .filter((to) => to !== from)
        .map((to): Route => [pathBetween(from.slug, to.slug), (site) => changesPage(site, from, to)]),
    ),
  ]);
}

const json = (value: unknown, space?: number): Rendered => ({
  type: "application/json",
  content: JSON.stringify(value, null, space),
});

const notFoundPage: Page = {
  title: "There is no such page",
  body: html`<p>
    It may have another name in this version. Search, or go to <a href="${home}">the overview</a>.
  </p>`,
};

/** Returns the page of a guide, with links to the previous and the next one. */
function guidePage({ path, file }: Guide, before: Guide | undefined, after: Guide | undefined): Page {
  const page = textPage(path, file);
  const linkTo = (guide: Guide | undefined, label: string) =>
    guide &&
    html`<a href="${guide.path}" rel="${label === "Next" ? "next" : "prev"}"
      >${label}: ${renderFile(guide.file).title}</a
    >`;
  return {
    ...page,
    body: html`${page.body}
      <nav class="neighbours" aria-label="Next pages">
        ${linkTo(before, "Previous")} ${linkTo(after, "Next")}
      </nav>
      <p class="quiet">This page is <code>${file}</code> in the repository.</p>`,
  };
}

/** Returns the page of the changelog, with a link to its feed. */
function changelogPage(): Page {
  const page = textPage(changelogPath, changelogFile);
  return {
    ...page,
    aside: html`<a class="button" href="${feedPath}">Feed (Atom)</a>`,
    links: html`${page.links}${feedLink}`,
  };
}

/** Returns the page of a Markdown file, with a link to the file. */
function textPage(path: string, file: string): Page {
  const { title, content, headings } = renderFile(file);
  return {
    title,
    links: html`<link rel="alternate" type="text/markdown" href="${markdownPath(path)}" />`,
    headings: headings.filter(({ level }) => level === 2 || level === 3),
    body: html`<div class="prose">${content}</div>`,
  };
}
