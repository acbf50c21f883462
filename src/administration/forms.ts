import { html } from "../html/html.ts";
import type { Content, Html } from "../html/html.ts";
import type { Visit } from "./visit.ts";

/** Errors of a form, by field name. */
export type FieldErrors = Readonly<Record<string, string>>;

export const hasErrors = (errors: FieldErrors): boolean => Object.keys(errors).length > 0;

/** A text of the form that was sent, as it was typed; empty when it is missing. */
export function typedText({ request }: Visit, name: string): string {
  const value = (request.body as Record<string, unknown> | undefined)?.[name];
  return typeof value === "string" ? value : "";
}

/** A text of the form that was sent, trimmed. Not for passwords. */
export const textField = (visit: Visit, name: string): string => typedText(visit, name).trim();

/** A password of the form that was sent. */
export const passwordOf = (visit: Visit, name: string): string => typedText(visit, name).normalize("NFC");

/** A parameter of the address; empty when it is missing. */
export function queryOf({ request }: Visit, name: string): string {
  const value = request.query[name];
  return typeof value === "string" ? value : "";
}

/** The errors above a form, each linked to its field. Nothing without errors. */
export function errorSummary(errors: FieldErrors): Content {
  const entries = Object.entries(errors);
  return (
    entries.length > 0 &&
    html`<div class="notice bad" role="alert" tabindex="-1" data-focus>
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
  /** The button that sends it. */
  submit: string;
  isDangerous?: boolean;
  /** The path below /admin of the page to which one can go back instead. */
  cancel?: string;
}

/** A form to the page's own path: its fields, the buttons, and what proves that it is ours. */
export function form(visit: Visit, { fields, submit, isDangerous = false, cancel }: Form): Html {
  return html`<form method="post" action="/admin${visit.path}" class="card" novalidate>
    ${csrfField(visit)} ${fields}
    <div class="actions">
      <button class="${isDangerous ? "danger" : "main"}">${submit}</button>
      ${cancel !== undefined && html`<a class="button" href="/admin${cancel}">Cancel</a>`}
    </div>
  </form>`;
}

/** A button that does something at once. */
export function actionButton(visit: Visit, action: string, label: string, isMain = false): Html {
  return html`<form method="post" action="/admin${action}">
    ${csrfField(visit)}<button class="${isMain && "main"}">${label}</button>
  </form>`;
}

export interface FormField {
  name: string;
  label: string;
  type?: "text" | "password";
  value?: string;
  hint?: string | undefined;
  errors?: FieldErrors;
  autocomplete: string;
  maxlength?: number;
}

/** A field for a line of text, with its label, hint and error. */
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
      required
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

/** A choice between several options. */
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
