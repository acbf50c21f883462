import type { Response } from "express";
import { menuEntry, printDocument } from "../html/frame.ts";
import { html } from "../html/html.ts";
import type { Content, Html } from "../html/html.ts";
import { csrfField, errorSummary, form, hasErrors, queryParameter } from "./forms.ts";
import type { FieldErrors } from "./forms.ts";
import { getVisit } from "./visit.ts";
import type { Visit } from "./visit.ts";

/** A link to a page, whose path is below /admin. */
export interface Link {
  title: string;
  path: string;
}

export interface Page {
  status?: number | undefined;
  /** The heading, and the title of the window. */
  title: string;
  /** The parent page, unless it is the first page of the section. */
  within?: Link;
  /** Content beside the heading: a state or the main button. */
  aside?: Content;
  body: Content;
  /** Notices shown once after an action, by the value of the query parameter `done`. */
  notices?: Readonly<Record<string, string>>;
  /** Errors of the page's form. */
  errors?: FieldErrors;
}

/**
 * Renders a page. After log-in, it has the menu.
 *
 * @param first the first page of its section
 */
export function showPage(response: Response, page: Page, first?: Link): void {
  const visit = getVisit(response);
  const { title, within, notices = {}, errors = {} } = page;
  const done = queryParameter(visit, "done");
  const above = [first, within].filter((link) => link !== undefined);
  const document = printDocument({
    home: "/admin",
    product: "Administration",
    windowTitle: `${hasErrors(errors) ? "Error: " : ""}${title} · Stock and order administration`,
    menu: visit.visitor && menu(visit, visit.visitor.name),
    aboveTitle: above.length > 0 && breadcrumbs(above),
    title,
    aside: page.aside,
    body: html`${Object.hasOwn(notices, done) && html`<p class="notice good" role="status">${notices[done]}</p>`}
    ${errorSummary(errors)} ${page.body}`,
  });
  const status = page.status ?? (hasErrors(errors) ? 422 : 200);
  response.status(status).type("html").send(document);
}

/** A page with a question to confirm. Its form posts to the same path. */
export function confirmationPage(
  visit: Visit,
  { title, within, text, submit }: { title: string; within: Link; text: string; submit: string },
): Page {
  const fields = html`<p>${text}</p>`;
  const body = form(visit, { fields, submit, isDangerous: true, cancel: within.path });
  return { title, within, body };
}

function menu(visit: Visit, name: string): Html {
  return html`${visit.menu.map(
      ({ title, sections }) =>
        html`<h2>${title}</h2>
          <ul>
            ${sections.map(({ title, path }) => menuEntry(`/admin${visit.path}`, `/admin${path}`, title))}
          </ul>`,
    )}
    <form class="actions" method="post" action="/admin/log-out">
      ${csrfField(visit)}
      <span>Logged in as <strong>${name}</strong></span>
      <button class="plain">Log out</button>
    </form>`;
}

function breadcrumbs(pages: readonly Link[]): Html {
  return html`<nav class="trail" aria-label="Where you are">
    <ol>
      ${pages.map(({ title, path }) => html`<li><a href="/admin${path}">${title}</a></li>`)}
    </ol>
  </nav>`;
}
