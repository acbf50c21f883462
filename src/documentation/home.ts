import { readFileSync } from "node:fs";
import { html } from "../html/html.ts";
import type { Content, Html } from "../html/html.ts";
import { examples } from "../versions/explorer-examples.ts";
import { explorerPathOf } from "../versions/explorer-page.ts";
import { feedLink, feedPath } from "./changelog-feed.ts";
import { diagramAddress, diagramsIn } from "./diagrams.ts";
import { eventsPath } from "./events.ts";
import { fullPath, indexPath } from "./for-machines.ts";
import { guideGroups, renderFile, root } from "./guides.ts";
import { codeBlock } from "./markdown.ts";
import type { Page, Site } from "./print-page.ts";
import { home, kindPath, versionPath } from "./print-page.ts";

interface ReaderCard {
  title: string;
  about: string;
  button: string;
  first: string;
  /** The title of the group of guides that is listed. */
  group: string;
}

/** The three kinds of readers, each with a page to begin with. */
const readerCards: readonly ReaderCard[] = [
  {
    title: "Call the API",
    about: "Write a program that reads and changes data, or receives webhooks.",
    button: "Make the first call",
    first: `${home}/tutorials/calling-the-api`,
    group: "Guides for integrators",
  },
  {
    title: "Run the service",
    about: "Deploy it, watch it, keep its data safe.",
    button: "Set up a database",
    first: `${home}/tutorials/owning-the-database`,
    group: "Guides for operators",
  },
  {
    title: "Change the schema",
    about: "Add tables, fields and mutations in SQL; the API follows.",
    button: "Add a field",
    first: `${home}/tutorials/changing-the-service`,
    group: "Guides for DBAs",
  },
];

/** Prints JSON in few lines: the only member of an object or list stays on the line of its parent. */
function printNested(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => printNested(each, indent)).join(", ")}]`;
  const printed = (inner: string) =>
    Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${printNested(each, inner)}`);
  const lines = printed(`${indent}  `);
  if (lines.length === 1) return `{ ${printed(indent)[0]!} }`;
  return `{\n${lines.map((line) => `${indent}  ${line}`).join(",\n")}\n${indent}}`;
}

/** Reads the README, whose example response and diagram the first page shows. */
const readme = () => readFileSync(new URL("README.md", root), "utf8");

/** Returns the response to the first example. */
function renderExampleResponse(): Html {
  const [, json = "{}"] = /^```json\n([^]*?)\n```$/m.exec(readme()) ?? [];
  return codeBlock(printNested(JSON.parse(json)), "json");
}

/** Returns the diagram of how the service works; null when it isn't drawn. */
function renderDiagram(): Content {
  const [source = ""] = diagramsIn(readme());
  return (
    diagramAddress(source) &&
    html`<h2>How it works</h2>
      ${codeBlock(source, "mermaid")}`
  );
}

/** Returns the first page: a query with its response, a card for each kind of reader, the reference. */
export const homePage = (site: Site): Page => ({
  title: "Documentation",
  summary: "Guides and reference of the GraphQL API for products, stock, orders, fulfillment and purchasing.",
  links: html`<link
      rel="alternate"
      type="text/plain"
      title="Index for programs"
      href="${indexPath}"
    />${feedLink}`,
  body: html`
    <p class="lead">
      A GraphQL API for products, stock and its ledger, orders, fulfillment and purchasing. Authenticate with
      OAuth client credentials, read with Relay pagination, and receive changes by webhooks.
    </p>
    ${codeBlock(examples[0]!.query, "graphql")} ${renderExampleResponse()}
    ${
      site.explorer &&
      html`<p>
        <a class="button" href="${explorerPathOf(site.versions.at(-1)!)}?example=0">Run it in the explorer</a>
      </p>`
    }
    <ul class="cards">
      ${readerCards.map(({ title, about, button, first, group }) =>
        card(
          html`<h2>${title}</h2>`,
          about,
          html`<p><a class="button main" href="${first}">${button}</a></p>
            <ul class="plain-list">
              ${guideGroups
                .find((each) => each.title === group)!
                .guides.map(
                  (guide) => html`<li><a href="${guide.path}">${renderFile(guide.file).title}</a></li>`,
                )}
            </ul>`,
        ),
      )}
    </ul>
    ${renderDiagram()} ${reference(site)}
    <p class="quiet">
      For programs and language models: <a href="${indexPath}">llms.txt</a>,
      <a href="${fullPath}">all pages in one file</a>, each guide as Markdown at its address with
      <code>.md</code>, and <a href="${feedPath}">the changelog as a feed</a>.
    </p>
  `,
});

const reference = ({ versions }: Site): Html =>
  html`<h2>Reference</h2>
    <ul class="cards">
      ${card(
        html`<h3><a href="${home}/reference/requests">The API</a></h3>`,
        html`<a href="${home}/reference/authentication">Authentication</a>,
          <a href="${home}/reference/pagination">pagination</a>,
          <a href="${home}/reference/filters">filters</a>,
          <a href="${home}/reference/mutations">mutations</a>,
          <a href="${home}/reference/limits">rate limits</a>, <a href="${home}/reference/errors">errors</a>.`,
      )}
      ${versions.map(versionCard)}
      ${card(
        html`<h3><a href="${eventsPath}">Events</a></h3>`,
        "Topics of webhooks, with the fields of their messages. The same for all versions.",
      )}
    </ul>`;

const card = (heading: Html, about: Content, more?: Html): Html =>
  html`<li>
    <div class="card">
      ${heading}
      <p class="about">${about}</p>
      ${more}
    </div>
  </li>`;

const versionCard = ({ slug, kind, state, path, sunsetOn }: Site["versions"][number]): Html =>
  card(
    html`<h3><a href="${versionPath(slug)}">${slug}</a></h3>`,
    html`${kind === "floating" ? "The next version; it changes." : "Frozen."}
    ${state === "deprecated" && `Served until ${sunsetOn}.`}`,
    html`<p>
      <a href="${kindPath(slug, "queries")}">Queries</a> ·
      <a href="${kindPath(slug, "mutations")}">Mutations</a> ·
      <a href="${kindPath(slug, "objects")}">Objects</a> · <a href="${versionPath(slug)}/scopes">Scopes</a> ·
      <a href="${path}/schema.graphql">Schema (SDL)</a>
    </p>`,
  );
