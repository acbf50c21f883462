import { html } from "../html/html.ts";
import type { Content, Html } from "../html/html.ts";

const dateAndTime = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});
const dateOnly = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });

/** A time in UTC, as an HTML element. */
export function moment(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${momentText(date)}</time>`;
}

/** A time in UTC, as text. */
export function momentText(date: Date): string {
  return `${dateAndTime.format(date)} UTC`;
}

/** A day. */
export function day(date: Date): Html {
  return html`<time datetime="${date.toISOString().slice(0, 10)}">${dateOnly.format(date)}</time>`;
}

/** Formats a whole number with thousands separators. */
export function count(number: number): string {
  return whole.format(number);
}

/** A number of milliseconds. */
export function milliseconds(ms: number): string {
  return `${(ms < 10 ? exact : whole).format(ms)} ms`;
}

/** Returns the name that pages show for a resource such as `supplier_orders`. */
export function resourceName(resource: string): string {
  const words = resource.replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
}

/** Invisible characters, and characters that change how others are shown: control characters, direction marks. */
const invisibleCharacters = /(?![\n\t])[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** Returns a visible replacement for a control character. */
function visibleReplacement(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/** Makes every character of a client's text visible, and cuts the text if it is too long. */
export function visibleText(text: string, most: number): string {
  const characters = [...text.slice(0, 2 * most)];
  const isCut = characters.length > most || text.length > 2 * most;
  const kept = characters.slice(0, most).join("").toWellFormed();
  return kept.replaceAll("\r\n", "\n").replace(invisibleCharacters, visibleReplacement) + (isCut ? "…" : "");
}

/** A scrolling block with a client's text, as {@link visibleText} returns it. */
export function clientTextBlock(label: string, text: string, most: number): Html {
  return html`<pre class="foreign" role="region" aria-label="${label}" tabindex="0">
${visibleText(text, most)}</pre>`;
}

/** A value with a button that copies it. The script shows the button. */
export function copyable(title: string, hint: Content, value: string, id: string): Html {
  return html`<div>
    <p><strong>${title}</strong>${hint && html` <span class="quiet">${hint}</span>`}</p>
    <div class="value">
      <code id="${id}">${value}</code>
      <button type="button" class="plain" data-copy="${id}" data-title="${title}" hidden>Copy</button>
    </div>
  </div>`;
}
