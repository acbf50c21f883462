import { html as tag } from "hono/html";

/** A piece of HTML. Only {@link html} makes one; everything else in a template is escaped. */
export interface Html {
  readonly isEscaped: true;
  toString(): string;
}

/** Values in a template: text, which is escaped, other pieces, lists of both; `false` and null print nothing. */
export type Content = Html | string | number | boolean | null | undefined | readonly Content[];

/** Makes a piece of HTML from a template. */
export function html(strings: TemplateStringsArray, ...contents: Content[]): Html {
  // Hono's type is a promise only when a value is one
  return tag(strings, ...contents) as unknown as Html;
}
