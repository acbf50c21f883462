import { html as tag } from "hono/html";

/** A piece of HTML. Only {@link html} makes one, so whatever else stands in a template is escaped. */
export interface Html {
  readonly isEscaped: true;
  toString(): string;
}

/** What a template may hold: text, which is escaped, other pieces, lists of both; `false` and null leave nothing. */
export type Content = Html | string | number | boolean | null | undefined | readonly Content[];

/** Makes a piece of HTML of a template. */
export function html(strings: TemplateStringsArray, ...contents: Content[]): Html {
  // Of Hono's type, the promise is only for contents that are promises
  return tag(strings, ...contents) as unknown as Html;
}
