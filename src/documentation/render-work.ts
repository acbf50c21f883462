// Runs in a thread of DocumentationThread.
import { KeptValues } from "../lib/kept-values.ts";
import type { Kept } from "../lib/kept-values.ts";
import type { Edition } from "./edition.ts";
import type { Site } from "./print-page.ts";
import type { Rendered } from "./routes.ts";
import { render } from "./routes.ts";

/** A page to render, with the editions that it may need. */
export interface RenderTask {
  site: Site;
  path: string;
  kept: Kept<Edition>[];
}

/** Versions that are kept, each some ten megabytes as a schema. */
const maxEditions = 6;
const known = new KeptValues<Edition, Edition>(maxEditions, (edition) => edition);

/** Returns the page, null when there is none; or null itself when editions have to be sent. */
export async function renderPage({
  site,
  path,
  kept,
}: RenderTask): Promise<{ page: Rendered | null } | null> {
  const editions = known.of(kept);
  return editions && { page: await render(site, editions, path) };
}
