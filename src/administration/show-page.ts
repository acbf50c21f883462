import type { Response } from "express";
import { menuEntry, printDocument } from "../html/frame.ts";
import { html } from "../html/html.ts";
import type { Content, Html } from "../html/html.ts";
import { csrfField, errorSummary, form, hasErrors } from "./forms.ts";
import type { FieldErrors, Form } from "./forms.ts";
import { visitOf } from "./visit.ts";
import type { Visit } from "./visit.ts";

export interface Page {
  status?: number | undefined;
  /** The heading, and the title of the window. */
  title: string;
  /** Pages above this one. */
  trail?: readonly { title: string; path: string }[];
  /** Content beside the heading: state, main button. */
  aside?: Content;
  body: Content;
  /** A notice, shown once after an action. */
  notice?: string | undefined;
  /** Errors of the page's form. */
  errors?: FieldErrors;
}

/** Renders a page: with the navigation after log-in, else without. */
export function showPage(response: Response, page: Page): void {
  const visit = visitOf(response);
  const { title, notice, errors = {} } = page;
  const document = printDocument({
    home: "/admin",
    product: "Administration",
    windowTitle: `${hasErrors(errors) ? "Error: " : ""}${title} · Stock and order administration`,
    menu: visit.visitor && menu(visit, visit.visitor.name),
    above: page.trail && trail(page.trail),
    title,
    aside: page.aside,
    body: html`${notice && html`<p class="notice good" role="status">${notice}</p>`} ${errorSummary(errors)}
    ${page.body}`,
  });
  const status = page.status ?? (hasErrors(errors) ? 422 : 200);
  response.status(status).type("html").send(document);
}

/** Asks whether something is to be done that can't, or can't simply, be undone. */
export function showQuestion(
  response: Response,
  { title, trail, text, ...others }: Pick<Page, "title" | "trail"> & Omit<Form, "fields"> & { text: string },
): void {
  const body = form(visitOf(response), { ...others, fields: html`<p>${text}</p>`, isDangerous: true });
  showPage(response, { title, trail, body });
}

function menu(visit: Visit, name: string): Html {
  return html`${visit.navigation.map(
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

function trail(pages: readonly { title: string; path: string }[]): Html {
  return html`<nav class="trail" aria-label="Where you are">
    <ol>
      ${pages.map(({ title, path }) => html`<li><a href="/admin${path}">${title}</a></li>`)}
    </ol>
  </nav>`;
}
