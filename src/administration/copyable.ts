import { html } from "../html/html.ts";
import type { Content, Html } from "../html/html.ts";

/** A value with a button to copy it, which the script shows. */
export function copyable(title: string, hint: Content, value: string, id: string): Html {
  return html`<div>
    <p><strong>${title}</strong>${hint && html` <span class="quiet">${hint}</span>`}</p>
    <div class="value">
      <code id="${id}">${value}</code>
      <button type="button" class="plain" data-copy="${id}" data-title="${title}" hidden>Copy</button>
    </div>
  </div>`;
}
