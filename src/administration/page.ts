import type { Response } from "express";
import { assetUrl } from "./assets.ts";
import { csrfField } from "./csrf.ts";
import { html } from "./html.ts";
import type { Content, Html } from "./html.ts";
import { visitOf } from "./visit.ts";
import type { Visit } from "./visit.ts";

export interface Page {
  status?: number;
  /** The heading, and the title of the window. */
  title: string;
  /** Prefix of the window's title when a form has errors. */
  prefix?: string;
  /** Pages above this one. */
  trail?: readonly { title: string; path: string }[];
  /** Content beside the heading: state, main button. */
  aside?: Content;
  body: Content;
  /** A notice, shown once after an action. */
  notice?: string | undefined;
}

/** Renders a page: with the navigation after log-in, else without. */
export function showPage(response: Response, page: Page): void {
  const visit = visitOf(response);
  const { status = 200, title, prefix = "" } = page;
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${prefix}${title} · Stock and order administration</title>
        <link rel="stylesheet" href="${assetUrl("style.css")}" />
        <link rel="icon" type="image/svg+xml" href="${assetUrl("icon.svg")}" />
        <script src="${assetUrl("script.js")}" defer></script>
      </head>
      <body class="${visit.visitor ? "with-navigation" : "bare"}">
        <a class="skip" href="#content">Skip to content</a>
        ${visit.visitor ? header(visit, visit.visitor.name) : bareHeader()}
        <main id="content" tabindex="-1">
          ${page.trail && trail(page.trail)}
          <div class="title">
            <h1>${title}</h1>
            ${page.aside && html`<div class="aside">${page.aside}</div>`}
          </div>
          ${page.notice && html`<p class="notice good" role="status">${page.notice}</p>`} ${page.body}
        </main>
        <p class="announcement" role="status" aria-live="polite" id="announcement"></p>
      </body>
    </html>`;
  response.status(status).type("html").send(document.toString());
}

function brand(): Html {
  return html`<span class="brand"
    ><img src="${assetUrl("icon.svg")}" alt="" width="32" height="32" /><span
      ><strong>Stock and order</strong> Administration</span
    ></span
  >`;
}

function bareHeader(): Html {
  return html`<header class="top">${brand()}</header>`;
}

function header(visit: Visit, name: string): Html {
  return html`<header class="side">
    <div>
      <a class="home" href="/admin">${brand()}</a>
      <nav aria-label="Administration">
        ${visit.navigation.map(
          ({ title, sections }) =>
            html`<div class="group">
              <h2>${title}</h2>
              <ul>
                ${sections.map(
                  ({ title, path }) =>
                    html`<li>
                      <a href="/admin${path}" ${mark(visit.path, path)}>${title}</a>
                    </li>`,
                )}
              </ul>
            </div>`,
        )}
      </nav>
      <form class="who" method="post" action="/admin/log-out">
        ${csrfField(visit)}
        <span>Logged in as <strong>${name}</strong></span>
        <button class="plain">Log out</button>
      </form>
    </div>
  </header>`;
}

/** Marks the current entry of the navigation. */
function mark(present: string, path: string): Content {
  if (present === path) return html`aria-current="page"`;
  return present.startsWith(`${path}/`) && html`aria-current="true"`;
}

function trail(pages: readonly { title: string; path: string }[]): Html {
  return html`<nav class="trail" aria-label="Where you are">
    <ol>
      ${pages.map(({ title, path }) => html`<li><a href="/admin${path}">${title}</a></li>`)}
    </ol>
  </nav>`;
}
