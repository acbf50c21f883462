import { html, linkList } from "../html/html.ts";
import type { Content } from "../html/html.ts";
import type { Edition } from "./edition.ts";
import { printSdl } from "../graphql/print-sdl.ts";
import { renderText } from "./markdown.ts";
import { Model } from "./model.ts";
import type { Page, Site } from "./print-page.ts";
import { home } from "./print-page.ts";

export const changesPath = `${home}/changes`;
export const pathBetween = (from: string, to: string): string => `${changesPath}/${from}/${to}`;

/** Returns the page with links to comparisons of all versions. */
export const changesIndex = ({ versions }: Site): Page => ({
  title: "Changes between versions",
  kind: "Reference",
  body: html`<p class="lead">
      What you have to change in a client to move it to another version, and what you gain.
    </p>
    ${renderComparisons(versions.map(({ slug }) => slug))}`,
});

function renderComparisons(slugs: readonly string[]): Content {
  const pairs = slugs.flatMap((from) => slugs.filter((to) => to !== from).map((to) => [from, to] as const));
  if (pairs.length === 0) return html`<p>There is only one version.</p>`;
  return linkList(
    pairs.map(([from, to]) => [
      html`<a href="${pathBetween(from, to)}"><code>${from}</code> to <code>${to}</code></a>`,
    ]),
  );
}

/** Returns the page of the differences between two versions. */
export async function changesPage(site: Site, from: Edition, to: Edition): Promise<Page> {
  // Comparing schemas takes a library that nothing else here needs
  const { printDifference } = await import("../check/changelog.ts");
  const difference = await printDifference(getSdl(from), getSdl(to));
  const { content, headings } = renderText(`# Changes\n\n${difference}`, () => null);
  return {
    title: `From ${from.slug} to ${to.slug}`,
    kind: "Changes",
    aside: html`<a class="button" href="${pathBetween(to.slug, from.slug)}">Reverse</a>`,
    headings: headings.filter(({ level }) => level === 2),
    body: html`<div class="prose">${content}</div>
      <h2>Other comparisons</h2>
      ${renderComparisons(site.versions.map(({ slug }) => slug))}`,
  };
}

const getSdl = (edition: Edition): string => printSdl(new Model(edition).schema);
