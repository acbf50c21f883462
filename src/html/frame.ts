import { assetUrl } from "./assets.ts";
import { html } from "./html.ts";
import type { Content, Html } from "./html.ts";

/** A page in the common frame: a bar at the top, a menu and the content. */
export interface FramedPage {
  /** Path of the first page. The files that pages load are below it. */
  home: string;
  /** The name of this group of pages, such as Administration. */
  product: string;
  /** The title of the browser window. */
  windowTitle: string;
  /** The description for search engines and previews. */
  summary?: string | undefined;
  /** Links in the head to other formats of the page. */
  links?: Content;
  /** Content of the bar, after the name. */
  bar?: Content;
  /** The menu, if the page has one. */
  menu?: Content;
  /** Content above the title. */
  aboveTitle?: Content;
  title: Content;
  /** Content beside the title: a state or the main button. */
  aside?: Content;
  body: Content;
  /** Content beside the body, if there is room. */
  sidebar?: Content;
}

/** Prints a page as an HTML document. */
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
              ${page.aboveTitle}
              <div class="title">
                <h1>${page.title}</h1>
                ${page.aside && html`<div>${page.aside}</div>`}
              </div>
            </div>
            ${page.body}
          </main>
          ${page.sidebar}
        </div>
        <p class="announcement" role="status" aria-live="polite" id="announcement"></p>
      </body>
    </html>`;
  return document.toString();
}

/** An entry of a menu. The current page is marked, and with `isSection` also the section that it belongs to. */
export function menuEntry(currentPath: string, path: string, title: Content, isSection = true): Html {
  const isWithin = isSection && currentPath.startsWith(`${path}/`);
  const mark = currentPath === path ? html`aria-current="page"` : isWithin && html`aria-current="true"`;
  return html`<li><a href="${path}" ${mark}>${title}</a></li>`;
}
