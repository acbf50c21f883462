import { html } from "./html.ts";
import type { Html } from "./html.ts";

/** Characters that change how others are shown, or can't be seen: control characters, and marks of direction. */
const unseen = /(?![\n\t])[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** A character in the place of one that can't be seen. */
function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/** A text that others wrote, with everything in it to be seen, and cut when it has more characters than this. */
export function shown(text: string, most: number): string {
  const characters = [...text.slice(0, 2 * most)];
  const isCut = characters.length > most || text.length > 2 * most;
  const kept = characters.slice(0, most).join("").toWellFormed();
  return kept.replaceAll("\r\n", "\n").replace(unseen, picture) + (isCut ? "…" : "");
}

/** A block of text that others wrote, as it is but for what {@link shown} does. It scrolls inside of its box. */
export function foreignBlock(label: string, text: string, most: number): Html {
  return html`<pre class="foreign" role="region" aria-label="${label}" tabindex="0">
${shown(text, most)}</pre>`;
}
