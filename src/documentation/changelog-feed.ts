import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { html } from "../html/html.ts";
import { changelogFile, linksOf, root } from "./guides.ts";
import { anchorOf, renderText } from "./markdown.ts";
import { home } from "./print-page.ts";

export const changelogPath = `${home}/changelog`;
export const feedPath = `${changelogPath}.atom`;

/** The link to the feed in the head of a page. */
export const feedLink = html`<link
  rel="alternate"
  type="application/atom+xml"
  title="Changelog"
  href="${feedPath}"
/>`;

/** A release in the changelog. */
interface Release {
  version: string;
  /** Like 2026-11-25. */
  date: string;
  heading: string;
  /** Markdown. */
  changes: string;
}

/** The releases in a changelog that have a date, the newest first. */
export const releasesIn = (changelog: string): Release[] =>
  [...changelog.matchAll(/^## (\[(.+?)\] - (\d{4}-\d\d-\d\d)).*\n([^]*?)(?=^## |(?![^]))/gm)].map(
    ([, heading, version, date, changes]) => ({
      heading: heading!,
      version: version!,
      date: date!,
      changes: changes!,
    }),
  );

/** An identifier that stays the same, made from a name. */
const idOf = (name: string): string =>
  `urn:uuid:${hash("sha256", name).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-a$4-$5")}`;

const momentOf = (date: string): string => `${date}T00:00:00Z`;

/** The changelog as a feed (Atom), with an entry for each release. */
export function changelogFeed(): string {
  const releases = releasesIn(readFileSync(new URL(changelogFile, root), "utf8"));
  const findLink = linksOf(changelogFile);
  const feed = html`<?xml version="1.0" encoding="utf-8"?>
    <feed xmlns="http://www.w3.org/2005/Atom">
      <id>${idOf("changelog")}</id>
      <title>Stock and order: changelog</title>
      <updated>${momentOf(releases[0]!.date)}</updated>
      <author><name>Stock and order</name></author>
      <link rel="self" type="application/atom+xml" href="${feedPath}" />
      <link rel="alternate" type="text/html" href="${changelogPath}" />
      ${releases.map(
        ({ version, date, heading, changes }) =>
          html`<entry>
            <id>${idOf(`changelog ${version}`)}</id>
            <title>${version}</title>
            <updated>${momentOf(date)}</updated>
            <link rel="alternate" type="text/html" href="${changelogPath}#${anchorOf(heading)}" />
            <content type="html">
              ${renderText(`# ${version}\n\n${changes}`, findLink, { anchors: false }).content.toString()}
            </content>
          </entry>`,
      )}
    </feed>`;
  return feed.toString();
}
