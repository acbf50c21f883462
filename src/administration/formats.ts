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

/** A time, in UTC. */
export function moment(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${momentText(date)}</time>`;
}

/** A time, within a sentence. */
export function momentText(date: Date): string {
  return `${dateAndTime.format(date)} UTC`;
}

/** A day. */
export function day(date: Date): Html {
  return html`<time datetime="${date.toISOString().slice(0, 10)}">${dateOnly.format(date)}</time>`;
}

/** A whole number with separators of thousands. */
export function count(number: number): string {
  return whole.format(number);
}

/** A number of milliseconds. */
export function milliseconds(ms: number): string {
  return `${(ms < 10 ? exact : whole).format(ms)} ms`;
}

/** Name of a resource such as `supplier_orders` on pages. */
export function resourceName(resource: string): string {
  const words = resource.replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
}

/** Invisible characters, and those that change how others are shown: control characters, marks of direction. */
const unseen = /(?![\n\t])[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** A visible replacement. */
function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/** Another person's text with everything in it visible, and cut if it is longer than that. */
export function shown(text: string, most: number): string {
  const characters = [...text.slice(0, 2 * most)];
  const isCut = characters.length > most || text.length > 2 * most;
  const kept = characters.slice(0, most).join("").toWellFormed();
  return kept.replaceAll("\r\n", "\n").replace(unseen, picture) + (isCut ? "…" : "");
}

/** A block of another person's text, as {@link shown} returns it. It scrolls inside its box. */
export function foreignBlock(label: string, text: string, most: number): Html {
  return html`<pre class="foreign" role="region" aria-label="${label}" tabindex="0">
${shown(text, most)}</pre>`;
}

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
