import { hash } from "node:crypto";
import { html } from "../html/html.ts";
import { changelogFile, renderFile } from "./guides.ts";
import { home } from "./print-page.ts";

export const changelogPath = `${home}/changelog`;
export const feedPath = `${changelogPath}.atom`;

/** The link to the feed, for the head of a page. */
export const feedLink = html`<link rel="alternate" type="application/atom+xml" href="${feedPath}" />`;

/** Matches the heading of a release with a date, and the HTML below it. */
const releases = /<h2 id="([^"]+)">\[(.+?)\] - (\d{4}-\d\d-\d\d).*?<\/h2>([^]*?)(?=<h2|$)/g;

/** Returns an identifier that depends only on a name. */
const createId = (name: string): string =>
  `urn:uuid:${hash("sha256", name).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-a$4-$5")}`;

/** Returns the changelog as an Atom feed, with an entry for each release that has a date. */
export function changelogFeed(changelog = renderFile(changelogFile).content.toString()): string {
  const entries = [...changelog.matchAll(releases)].map(([, id, version, date, changes]) => ({
    date: `${date}T00:00:00Z`,
    entry: html`<entry>
      <id>${createId(`changelog ${version}`)}</id>
      <title>${version}</title>
      <updated>${date}T00:00:00Z</updated>
      <link rel="alternate" type="text/html" href="${changelogPath}#${id}" />
      <content type="html">${changes!.replace(/ <a class="anchor".*?<\/a>/g, "")}</content>
    </entry>`,
  }));
  return html`<?xml version="1.0" encoding="utf-8"?>
    <feed xmlns="http://www.w3.org/2005/Atom">
      <id>${createId("changelog")}</id>
      <title>Stock and order: changelog</title>
      <updated>${entries[0]?.date}</updated>
      <author><name>Stock and order</name></author>
      <link rel="self" type="application/atom+xml" href="${feedPath}" />
      <link rel="alternate" type="text/html" href="${changelogPath}" />
      ${entries.map(({ entry }) => entry)}
    </feed>`.toString();
}
