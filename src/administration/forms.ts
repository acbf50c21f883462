import { html } from "../html/html.ts";
import type { Content, Html } from "../html/html.ts";
import type { Visit } from "./visit.ts";

/** Errors of a form, by field name. */
export type FieldErrors = Readonly<Record<string, string>>;

export const hasErrors = (errors: FieldErrors): boolean => Object.keys(errors).length > 0;

/** Returns a text of the submitted form as it was typed; empty if it is missing. */
export function untrimmedField({ request }: Visit, name: string): string {
  const value = (request.body as Record<string, unknown> | undefined)?.[name];
  return typeof value === "string" ? value : "";
}

/** Returns a text of the submitted form, trimmed. Not for passwords. */
export const textField = (visit: Visit, name: string): string => untrimmedField(visit, name).trim();

/** Returns a password of the submitted form. */
export const passwordField = (visit: Visit, name: string): string =>
  untrimmedField(visit, name).normalize("NFC");

/** Returns a query parameter; empty if it is missing. */
export function queryParameter({ request }: Visit, name: string): string {
  const value = request.query[name];
  return typeof value === "string" ? value : "";
}

/** The list of errors above a form, each linked to its field. Empty without errors. */
export function errorSummary(errors: FieldErrors): Content {
  const entries = Object.entries(errors);
  return (
    entries.length > 0 &&
    html`<div class="notice bad" role="alert" tabindex="-1" autofocus>
      <h2>There is a problem</h2>
      <ul>
        ${entries.map(([name, text]) => html`<li><a href="#${name}">${text}</a></li>`)}
      </ul>
    </div>`
  );
}

/** The hidden field that every form needs. */
export const csrfField = ({ csrfToken }: Visit): Html =>
  html`<input type="hidden" name="_csrf" value="${csrfToken}" />`;

export interface Form {
  fields: Content;
  /** Label of the submit button. */
  submit: string;
  isDangerous?: boolean;
  /** Path below /admin of the page that Cancel leads to. */
  cancel?: string;
}

/** A form that posts to the page's own path: its fields, buttons and CSRF token. */
export function form(visit: Visit, { fields, submit, isDangerous = false, cancel }: Form): Html {
  return html`<form method="post" action="/admin${visit.path}" class="card" novalidate>
    ${csrfField(visit)} ${fields}
    <div class="actions">
      <button class="${isDangerous ? "danger" : "main"}">${submit}</button>
      ${cancel !== undefined && html`<a class="button" href="/admin${cancel}">Cancel</a>`}
    </div>
  </form>`;
}

/** A button that performs an action at once. */
export function actionButton(visit: Visit, action: string, label: string, isMain = false): Html {
  return html`<form method="post" action="/admin${action}">
    ${csrfField(visit)}<button class="${isMain && "main"}">${label}</button>
  </form>`;
}

export interface FormField {
  name: string;
  label: string;
  type?: "text" | "password" | "date";
  value?: string;
  hint?: string | undefined;
  errors?: FieldErrors;
  autocomplete: string;
  maxlength?: number;
  isOptional?: boolean;
}

/** A one-line text field with its label, hint and error. */
export function field({ name, label, type = "text", value = "", hint, errors, ...others }: FormField): Html {
  const error = errors?.[name];
  const described = [hint && `${name}-hint`, error && `${name}-error`].filter(Boolean).join(" ");
  return html`<div class="field ${error && "wrong"}">
    <label for="${name}">${label}</label>
    ${hint && html`<p class="quiet" id="${name}-hint">${hint}</p>`}
    ${error && html`<p class="error" id="${name}-error">${error}</p>`}
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value}"
      maxlength="${others.maxlength ?? 200}"
      autocomplete="${others.autocomplete}"
      ${type === "text" && html`spellcheck="false" autocapitalize="none"`}
      ${described && html`aria-describedby="${described}"`}
      ${error && html`aria-invalid="true"`}
      ${others.isOptional !== true && html`required`}
    />
  </div>`;
}

export interface Choice {
  name: string;
  legend: string;
  options: readonly { value: string; label: string; hint?: string }[];
  chosen: string;
  hint?: string | undefined;
}

/** A group of radio buttons. */
export function choice({ name, legend, options, chosen, hint }: Choice): Html {
  return html`<fieldset ${hint && html`aria-describedby="${name}-hint"`}>
    <legend>${legend}</legend>
    ${hint && html`<p class="quiet" id="${name}-hint">${hint}</p>`}
    ${options.map(
      ({ value, label, hint }) =>
        html`<label class="option">
          <input type="radio" name="${name}" value="${value}" ${value === chosen && "checked"} required />
          <span><strong>${label}</strong>${hint && html`<span class="quiet">${hint}</span>`}</span>
        </label>`,
    )}
  </fieldset>`;
}
