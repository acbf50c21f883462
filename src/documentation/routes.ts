import { printSdl } from "../graphql/print-sdl.ts";
import { html } from "../html/html.ts";
import { pathOf as endpointOf } from "../versions/versions.ts";
import { changesIndex, changesPage, changesPath, pathBetween } from "./changes.ts";
import { changelogFeed, changelogPath, feedLink, feedPath } from "./changelog-feed.ts";
import { collectionOf } from "./collection.ts";
import type { Edition, PackedEdition } from "./edition.ts";
import { unpacked } from "./edition.ts";
import { eventPage, eventPath, eventsPage, eventsPath } from "./events.ts";
import { allPages, fullPath, indexPath, machineIndex, markdownOf, markdownPath } from "./for-machines.ts";
import { changelogFile, guides, lastOf, meantGuide, plain, renderFile } from "./guides.ts";
import type { Guide } from "./guides.ts";
import { homePage } from "./home.ts";
import type { Member } from "./model.ts";
import { isField, kinds, Model, nameOf } from "./model.ts";
import type { Page, Site } from "./print-page.ts";
import { home, kindPath, nowhere, printPage, versionPath } from "./print-page.ts";
import { rootFieldParts } from "./reference/fields.ts";
import { kindPage, scopesPage, versionPage } from "./reference/kinds.ts";
import { pathOf } from "./reference/links.ts";
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
  render(site, editions.map(unpacked), path);

/** Renders the page at a path. Returns null when there is none. */
export async function render(
  site: Site,
  editions: readonly Edition[],
  path: string,
): Promise<Rendered | null> {
  const slug = path.split("/")[path.startsWith("/api/") ? 3 : 2];
  const edition = editions.find((each) => each.slug === slug);
  const routes = edition ? routesOf(edition) : generalRoutes(editions);
  const make = routes.get(path);
  const reference = edition ?? editions.find((each) => each.slug === site.versions[0]?.slug);
  if (!make) return meantBy(path, routes, reference);
  const made = await make(site);
  if ("content" in made) return made;
  return { type: "text/html", content: printPage(site, path, made, modelOf(reference!).kinds) };
}

/**
 * Returns a redirect from an address that doesn't exist to a similar one: the same in other case, a guide, or a name in the
 * reference. Null when none is similar.
 */
function meantBy(path: string, routes: Routes, reference: Edition | undefined): Rendered | null {
  const spelled = routes.keys().find((known) => known.toLowerCase() === path.toLowerCase());
  const content = spelled ?? meantGuide(path) ?? (reference && similarIn(routesOf(reference), lastOf(path)));
  return content === undefined ? null : { type: "redirect", content };
}

/** Returns the path that ends with a name, or with a similar one. */
function similarIn(routes: Routes, name: string): string | undefined {
  const paths = [...routes.keys()];
  return (
    paths.find((path) => lastOf(path) === name) ?? paths.find((path) => plain(lastOf(path)) === plain(name))
  );
}

/** Returns all paths, for a static copy. */
export const pathsOf = (editions: readonly Edition[]): string[] =>
  [generalRoutes(editions), ...editions.map(routesOf)].flatMap((routes) => [...routes.keys()]);

const known = new WeakMap<Edition, { model: Model; routes: Routes }>();

/** Returns the model and the routes of a version, which are cached. */
function keptOf(edition: Edition): { model: Model; routes: Routes } {
  let kept = known.get(edition);
  if (!kept) {
    const model = new Model(edition);
    known.set(edition, (kept = { model, routes: new Map(routesOfModel(model)) }));
  }
  return kept;
}

const modelOf = (edition: Edition): Model => keptOf(edition).model;
const routesOf = (edition: Edition): Routes => keptOf(edition).routes;

function routesOfModel(model: Model): Route[] {
  const { slug } = model.edition;
  const base = versionPath(slug);
  return [
    [base, (site) => versionPage(site, model)],
    [`${base}/scopes`, () => scopesPage(model)],
    [`${base}/search.json`, () => json(searchIndex(model))],
    [`${base}/collection.json`, () => json(collectionOf(model), 1)],
    // A browser shows it as text
    [
      `${endpointOf({ slug })}/schema.graphql`,
      () => ({ type: "text/plain", content: printSdl(model.schema) }),
    ],
    ...model.kinds.map((kind): Route => [kindPath(slug, kind), () => kindPage(model, kind)]),
    ...[...model.rootFields, ...model.types].map((member): Route => [
      pathOf(model, member),
      () => memberPage(model, member),
    ]),
  ];
}

/** Returns the page of a type, or of a root field. */
function memberPage(model: Model, member: Member): Page {
  const kind = model.kindOf(member);
  const neighbours = model.ofKind(kind).map((each) => ({ title: each.name, path: pathOf(model, each) }));
  return {
    title: member.name,
    kind: nameOf(kind),
    version: model.edition.slug,
    neighbours: { title: kinds[kind], pages: neighbours },
    ...(isField(member) ? rootFieldParts(model, member) : typeParts(model, member)),
  };
}

/** Returns the pages and files that all versions share. */
function generalRoutes(editions: readonly Edition[]): Routes {
  const [{ topics }] = editions as [Edition];
  return new Map<Route[0], Route[1]>([
    [home, homePage],
    [nowhere, () => nothingHere],
    [eventsPath, () => eventsPage(topics)],
    [changesPath, changesIndex],
    [changelogPath, changelogPage],
    [feedPath, () => ({ type: "application/atom+xml", content: changelogFeed() })],
    [indexPath, (site) => ({ type: "text/plain", content: machineIndex(site) })],
    [fullPath, () => ({ type: "text/plain", content: allPages() })],
    ...[...guides, { path: changelogPath, file: changelogFile }].map(({ path, file }): Route => [
      markdownPath(path),
      () => ({ type: "text/markdown", content: markdownOf(file) }),
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

const nothingHere: Page = {
  title: "There is no such page",
  body: html`<p>
    It may have another name in this version. Search, or go to <a href="${home}">the overview</a>.
  </p>`,
};

/** Returns the page of a guide, with links to the previous and the next one. */
function guidePage({ path, file }: Guide, before: Guide | undefined, after: Guide | undefined): Page {
  const page = textPage(path, file);
  const way = (guide: Guide | undefined, label: string) =>
    guide &&
    html`<a href="${guide.path}" rel="${label === "Next" ? "next" : "prev"}"
      >${label}: ${renderFile(guide.file).title}</a
    >`;
  return {
    ...page,
    body: html`${page.body}
      <nav class="neighbours" aria-label="Next pages">${way(before, "Previous")} ${way(after, "Next")}</nav>
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
