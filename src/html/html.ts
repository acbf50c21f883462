import { html as tag } from "hono/html";

/** A piece of HTML. Only {@link html} creates it; everything else in a template is escaped. */
export interface Html {
  readonly isEscaped: true;
  toString(): string;
}

/** A value in a template: text, which is escaped, a piece of HTML, or a list of both. `false` and null print nothing. */
export type Content = Html | string | number | boolean | null | undefined | readonly Content[];

/** Creates a piece of HTML from a template. */
export function html(strings: TemplateStringsArray, ...contents: Content[]): Html {
  // Hono returns a promise only if a value is one
  return tag(strings, ...contents) as unknown as Html;
}

/** A list of named facts. Facts without a value are left out. */
export function facts(rows: readonly (readonly [title: string, value: Content])[]): Content {
  const given = rows.filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value || value === 0));
  if (given.length === 0) return null;
  return html`<dl class="facts">
    ${given.map(
      ([title, value]) =>
        html`<div>
          <dt>${title}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

/** A column of a table: its heading, and whether it has numbers. */
export type Column = string | { number: string };

/**
 * A table whose first column names the rows. On a narrow screen, each row becomes a list with the headings as labels.
 *
 * @param label of the scrolling region around the table
 */
export function table(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly Content[])[],
  caption?: string,
): Html {
  const titles = columns.map((column) => (typeof column === "string" ? column : column.number));
  const kinds = columns.map((column) => typeof column !== "string" && html`class="number"`);
  return html`<div class="wide" role="region" aria-label="${label}" tabindex="0">
    <table>
      ${
        caption &&
        html`<caption>
          ${caption}
        </caption>`
      }
      <thead>
        <tr>
          ${titles.map((title, index) => html`<th scope="col" ${kinds[index]}>${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([name, ...cells]) =>
            html`<tr>
              <th scope="row">${name}</th>
              ${cells.map((cell, index) => html`<td data-label="${titles[index + 1]}" ${kinds[index + 1]}>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** A framed part of a page with a heading. */
export const section = (id: string, title: string, body: Content, aside?: Content): Html =>
  html`<section class="card" aria-labelledby="${id}">
    <div class="title">
      <h2 id="${id}">${title}</h2>
      ${aside}
    </div>
    ${body}
  </section>`;

/** A list of links, each with a description and further content. */
export const linkList = (
  rows: readonly (readonly [link: Content, about?: Content, more?: Content])[],
): Html =>
  html`<ul class="index">
    ${rows.map(
      ([link, about, more]) =>
        html`<li>
          <span>${link}</span> ${about && html`<span class="about">${about}</span>`}
          ${more && html`<span class="more">${more}</span>`}
        </li>`,
    )}
  </ul>`;

/** A list of terms and their meanings. Links lead to a term by its id. */
export const definitions = (
  rows: readonly { id?: string | false; term: Content; meaning: Content }[],
): Html =>
  html`<dl class="definitions">
    ${rows.map(
      ({ id, term, meaning }) =>
        html`<div ${id && html`id="${id}"`}>
          <dt>${term}</dt>
          <dd>${meaning}</dd>
        </div>`,
    )}
  </dl>`;
