// Runs in a thread of DocumentationThread.
import { LRUCache } from "lru-cache";
import type { Edition } from "./edition.ts";
import type { Site } from "./print-page.ts";
import type { Rendered } from "./routes.ts";
import { render } from "./routes.ts";

/** A page to render, with the editions that the thread doesn't have yet. */
export interface RenderTask {
  site: Site;
  path: string;
  /** Ids of the editions that the page may need. */
  needed: readonly number[];
  given: readonly Edition[];
}

/** The page, null when there is none; null itself when editions are missing. */
export type RenderAnswer = { page: Rendered | null } | null;

/** Versions that are kept, each some ten megabytes as a schema. */
const maxEditions = 6;
const kept = new LRUCache<number, Edition>({ max: maxEditions });

export async function renderPage({ site, path, needed, given }: RenderTask): Promise<RenderAnswer> {
  for (const edition of given) kept.set(edition.id, edition);
  const editions = needed.map((id) => kept.get(id));
  if (editions.includes(undefined)) return null;
  return { page: await render(site, editions as Edition[], path) };
}
