import { html } from "../html/html.ts";
import type { Content, Html } from "../html/html.ts";
import { examples } from "../versions/explorer-examples.ts";
import { eventsPath } from "./events.ts";
import { guideGroups, guidePath, renderFile } from "./guides.ts";
import { codeBlock } from "./markdown.ts";
import type { Page, Site } from "./print-page.ts";
import { home, kindPath, versionPath } from "./print-page.ts";

/** The first page. */
export const homePage = (site: Site): Page => ({
  title: "Documentation",
  summary:
    "Guides and reference of the GraphQL API over products, stock, orders, fulfillment and purchasing.",
  body: html`
    <p class="lead">
      A GraphQL API over the data of an ERP and warehouse system: products, stock and its ledger, orders,
      fulfillment, purchasing. Tokens come by OAuth client credentials, changes by webhooks.
    </p>
    ${codeBlock(examples[0]!.query, "graphql")}
    <ul class="cards">
      ${guideGroups.map(({ title, about, guides }) => {
        const [first, ...others] = guides;
        return card(
          html`<h2>${title}</h2>`,
          about,
          html`<p><a class="button main" href="${guidePath(first!)}">${renderFile(first!.file).title}</a></p>
            <ul class="plain-list">
              ${others.map(
                (guide) => html`<li><a href="${guidePath(guide)}">${renderFile(guide.file).title}</a></li>`,
              )}
            </ul>`,
        );
      })}
    </ul>
    <h2>Reference</h2>
    <ul class="cards">
      ${site.versions.map(versionCard)}
      ${card(
        html`<h3><a href="${eventsPath}">Events</a></h3>`,
        "Topics of webhooks, with the fields of their messages. The same for all versions.",
      )}
      ${card(html`<h3><a href="${home}/guides/errors">Errors</a></h3>`, "Every code, what happened, and what to do.")}
    </ul>
  `,
});

const card = (heading: Html, about: Content, more?: Html): Html =>
  html`<li>
    <div class="card">
      ${heading}
      <p class="about">${about}</p>
      ${more}
    </div>
  </li>`;

const versionCard = ({ slug, kind, state, sunsetOn }: Site["versions"][number]): Html =>
  card(
    html`<h3><a href="${versionPath(slug)}">${slug}</a></h3>`,
    html`${kind === "floating" ? "What comes next; it changes." : "Frozen."}
    ${state === "deprecated" && `Served until ${sunsetOn}.`}`,
    html`<p>
      <a href="${kindPath(slug, "queries")}">Queries</a> ·
      <a href="${kindPath(slug, "mutations")}">Mutations</a> ·
      <a href="${kindPath(slug, "objects")}">Objects</a> ·
      <a href="${versionPath(slug)}/scopes">Scopes</a>
    </p>`,
  );
