import { assetUrl } from "./assets.ts";
import { html } from "./html.ts";
import type { Content, Html } from "./html.ts";

/** A page in the frame that all pages have: a bar at the top, a menu, the content. */
export interface FramedPage {
  /** Path of the first page, below which the files are that pages load. */
  home: string;
  /** The name of all these pages together. */
  product: string;
  /** The title of the window. */
  windowTitle: string;
  /** For search engines and previews. */
  summary?: string | undefined;
  /** Links in the head: other forms of the page. */
  links?: Content;
  /** In the bar, behind the name. */
  bar?: Content;
  /** Without it, the page has no menu. */
  menu?: Content;
  /** Above the title. */
  above?: Content;
  title: Content;
  /** Beside the title: a state, the main button. */
  aside?: Content;
  body: Content;
  /** Beside the content, where there is room. */
  beside?: Content;
}

/** Prints a page as a document. */
export function printDocument(page: FramedPage): string {
  const { home, product, menu } = page;
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${page.windowTitle}</title>
        ${page.summary && html`<meta name="description" content="${page.summary}" />`} ${page.links}
        <link rel="stylesheet" href="${assetUrl(home, "style.css")}" />
        <link rel="icon" type="image/svg+xml" href="${assetUrl(home, "icon.svg")}" />
        <script src="${assetUrl(home, "script.js")}" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <header class="top-bar">
          <a class="home" href="${home}"
            ><img src="${assetUrl(home, "icon.svg")}" alt="" width="28" height="28" /><span
              ><strong>Stock and order</strong> <span class="quiet">${product}</span></span
            ></a
          >
          ${page.bar}
          ${
            menu &&
            html`<button type="button" class="plain menu" aria-expanded="false" aria-controls="menu" hidden>
              Menu
            </button>`
          }
        </header>
        <div class="frame">
          ${menu && html`<nav class="contents" id="menu" aria-label="${product}">${menu}</nav>`}
          <main id="content" tabindex="-1">
            <div>
              ${page.above}
              <div class="title">
                <h1>${page.title}</h1>
                ${page.aside && html`<div>${page.aside}</div>`}
              </div>
            </div>
            ${page.body}
          </main>
          ${page.beside}
        </div>
        <p class="announcement" role="status" aria-live="polite" id="announcement"></p>
      </body>
    </html>`;
  return document.toString();
}

/** An entry of a menu. The page that is shown is marked, and by `isSection` also the section that it lies in. */
export function menuEntry(present: string, path: string, title: Content, isSection = true): Html {
  const isWithin = isSection && present.startsWith(`${path}/`);
  const mark = present === path ? html`aria-current="page"` : isWithin && html`aria-current="true"`;
  return html`<li><a href="${path}" ${mark}>${title}</a></li>`;
}
