import { html } from "../administration/html.ts";
import type { Edition } from "./edition.ts";
import { changesIndex, changesPage, changesPath } from "./changes.ts";
import { collectionOf } from "./collection.ts";
import { eventPage, eventPath, eventsPage, eventsPath } from "./events.ts";
import { changelogFile, guides, renderFile } from "./guides.ts";
import { homePage } from "./home.ts";
import type { Kind } from "./model.ts";
import { kinds, Model } from "./model.ts";
import type { Page, Site } from "./page.ts";
import { home, kindPath, nowhere, printPage, versionPath } from "./page.ts";
import { rootFieldPage } from "./reference/fields.ts";
import { kindPage, scopesPage, versionPage } from "./reference/lists.ts";
import { rootPath, typePath } from "./reference/parts.ts";
import { typePage } from "./reference/types.ts";
import { printSdl } from "../graphql/print-sdl.ts";
import { searchIndex } from "./search-index.ts";
import { pathOf } from "../versions/versions.ts";

/** A file to send. */
export interface Rendered {
  type: "text/html" | "application/json" | "text/plain";
  content: string;
}

const models = new WeakMap<Edition, Model>();
function modelOf(edition: Edition): Model {
  let model = models.get(edition);
  if (!model) models.set(edition, (model = new Model(edition)));
  return model;
}

const json = (value: unknown, space?: number): Rendered => ({
  type: "application/json",
  content: JSON.stringify(value, null, space),
});

/** Renders the page at a path; null when there is none. */
export async function render(
  site: Site,
  editions: readonly Edition[],
  path: string,
): Promise<Rendered | null> {
  const slug = path.startsWith("/api/") ? path.split("/")[3] : path.split("/")[2];
  const edition = editions.find((each) => each.slug === slug);
  if (edition) {
    const file = fileOf(modelOf(edition), path);
    if (file) return file;
  }
  const page = edition
    ? versionedPage(site, modelOf(edition), path)
    : await generalPage(site, editions, path);
  if (page) return { type: "text/html", content: printPage(site, path, page) };
  const [{ topics }] = editions as [Edition];
  const topic = topics.find(({ name }) => `${eventPath(name)}.json` === path);
  return topic ? json(topic.schema, 2) : null;
}

/** What belongs to a version and is no page. */
function fileOf(model: Model, path: string): Rendered | null {
  const { slug } = model.edition;
  if (path === `${versionPath(slug)}/search.json`) return json(searchIndex(model));
  if (path === `${versionPath(slug)}/collection.json`) return json(collectionOf(model), 1);
  // A browser shows it as text
  if (path === `${pathOf({ slug })}/schema.graphql`)
    return { type: "text/plain", content: printSdl(model.schema) };
  return null;
}

function versionedPage(site: Site, model: Model, path: string): Page | null {
  const base = versionPath(model.edition.slug);
  if (path === base) return versionPage(site, model);
  if (path === `${base}/scopes`) return scopesPage(model);
  const kind = Object.keys(kinds).find((each) => kindPath(model.edition.slug, each as Kind) === path);
  if (kind !== undefined) return kindPage(model, kind as Kind);
  const field = model.rootFields.find((each) => rootPath(model, each) === path);
  if (field) return rootFieldPage(model, field);
  const type = model.types.find((each) => typePath(model, each) === path);
  return type ? typePage(model, type) : null;
}

async function generalPage(site: Site, editions: readonly Edition[], path: string): Promise<Page | null> {
  const [{ topics }] = editions as [Edition];
  if (path === home) return homePage(site);
  if (path === nowhere) return nothingHere;
  if (path === eventsPath) return eventsPage(topics);
  if (path === changesPath) return changesIndex(site);
  if (path === `${home}/changelog`) return textPage(changelogFile);
  const guide = guides.find(({ slug }) => path === `${home}/guides/${slug}`);
  if (guide) return textPage(guide.file);
  const topic = topics.find(({ name }) => path === eventPath(name));
  if (topic) return eventPage(topics, topic);
  if (!path.startsWith(`${changesPath}/`)) return null;
  const [from, to] = path.slice(changesPath.length + 1).split("/");
  const [old, next] = [from, to].map((slug) => editions.find((each) => each.slug === slug));
  return old && next && old !== next ? changesPage(site, old, next) : null;
}

const nothingHere: Page = {
  title: "There is no such page",
  body: html`<p>
    It may have had another name in another version. Search, or begin <a href="${home}">at the front</a>.
  </p>`,
};

function textPage(file: string): Page {
  const { title, content, headings } = renderFile(file);
  return {
    title,
    headings: headings.filter(({ level }) => level === 2 || level === 3),
    body: html`<div class="prose">${content}</div>`,
  };
}

/** Every path that there is, for a static copy. */
export function pathsOf(editions: readonly Edition[]): string[] {
  const slugs = editions.map(({ slug }) => slug);
  return [
    ...[home, eventsPath, changesPath, `${home}/changelog`],
    ...guides.map(({ slug }) => `${home}/guides/${slug}`),
    ...editions[0]!.topics.flatMap(({ name }) => [eventPath(name), `${eventPath(name)}.json`]),
    ...slugs.flatMap((from) => slugs.filter((to) => to !== from).map((to) => `${changesPath}/${from}/${to}`)),
    ...editions.flatMap((edition) => pathsOfVersion(modelOf(edition))),
  ];
}

function pathsOfVersion(model: Model): string[] {
  const { slug } = model.edition;
  const base = versionPath(slug);
  return [
    ...[base, `${base}/scopes`, `${base}/search.json`, `${base}/collection.json`],
    ...Object.keys(kinds).map((kind) => kindPath(slug, kind as Kind)),
    ...model.rootFields.map((field) => rootPath(model, field)),
    ...model.types.map((type) => typePath(model, type)),
  ];
}
