import { html } from "../html/html.ts";
import type { Html } from "../html/html.ts";

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
