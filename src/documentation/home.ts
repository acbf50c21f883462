import { html } from "../html/html.ts";
import type { Html } from "../html/html.ts";
import { eventsPath } from "./events.ts";
import { guideGroups, guidePath, outlineOf } from "./guides.ts";
import { codeBlock } from "./markdown.ts";
import type { Page, Site } from "./print-page.ts";
import { home, kindPath, versionPath } from "./print-page.ts";

const firstQuery = `{
  orders(first: 1, filter: { amountTotal: { gt: 400 } }) {
    edges { node {
      orderNumber deliveryState amountTotal
      lineItems(first: 1) { edges { node { quantity label } } }
    } }
  }
}`;

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
    ${codeBlock(firstQuery, "graphql")}
    <ul class="cards">
      ${guideGroups.map(({ title, about, guides }) => {
        const [first, ...others] = guides;
        return html`<li>
          <div class="card">
            <h2>${title}</h2>
            <p class="about">${about}</p>
            <p><a class="button main" href="${guidePath(first!)}">${outlineOf(first!).title}</a></p>
            <ul class="plain-list">
              ${others.map(
                (guide) => html`<li><a href="${guidePath(guide)}">${outlineOf(guide).title}</a></li>`,
              )}
            </ul>
          </div>
        </li>`;
      })}
    </ul>
    <h2>Reference</h2>
    ${reference(site)}
  `,
});

const reference = (site: Site): Html =>
  html`<ul class="cards">
    ${site.versions.map(
      ({ slug, kind, state, sunsetOn }) =>
        html`<li>
          <div class="card">
            <h3><a href="${versionPath(slug)}">${slug}</a></h3>
            <p class="about">
              ${kind === "floating" ? "What comes next; it changes." : "Frozen."}
              ${state === "deprecated" && `Served until ${sunsetOn}.`}
            </p>
            <p>
              <a href="${kindPath(slug, "queries")}">Queries</a> ·
              <a href="${kindPath(slug, "mutations")}">Mutations</a> ·
              <a href="${kindPath(slug, "objects")}">Objects</a> ·
              <a href="${versionPath(slug)}/scopes">Scopes</a>
            </p>
          </div>
        </li>`,
    )}
    <li>
      <div class="card">
        <h3><a href="${eventsPath}">Events</a></h3>
        <p class="about">Topics of webhooks, with the fields of their messages. The same for all versions.</p>
      </div>
    </li>
    <li>
      <div class="card">
        <h3><a href="${home}/guides/errors">Errors</a></h3>
        <p class="about">Every code, what happened, and what to do.</p>
      </div>
    </li>
  </ul>`;
