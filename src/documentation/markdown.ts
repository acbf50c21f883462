import { raw } from "hono/html";
import MarkdownIt from "markdown-it";
import { html } from "../html/html.ts";
import type { Html } from "../html/html.ts";
import { diagramAddress } from "./diagrams.ts";
import { highlight } from "./highlight.ts";

/** A heading of a text, for the table of contents. */
export interface Heading {
  level: number;
  title: string;
  id: string;
}

/** Returns the address of a link; null if there is no such page, so that only the link's text is shown. */
export type FindLink = (address: string) => string | null;

/** A heading with the text below it, up to the next heading of the second or third level. */
export interface Section extends Heading {
  text: string;
}

interface Environment extends Record<PropertyKey, unknown> {
  findLink: FindLink;
  headings: Heading[];
  ids: Map<string, number>;
}

const createEnvironment = (findLink: FindLink): Environment => ({ findLink, headings: [], ids: new Map() });
/** Returns the environment of a text without links to other pages. */
const createEmptyEnvironment = () => createEnvironment(() => null);
const toEnvironment = (env: unknown): Environment => env as Environment;

// HTML in texts is shown as text, and links with `javascript:` aren't rendered: both are the library's defaults
const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });

/** Marks HTML from markdown-it as safe: the library escapes everything from the text. */
const fromMarkdown = (text: string): Html => raw(text);

const languages: Record<string, string> = {
  sh: "Shell",
  graphql: "GraphQL",
  json: "JSON",
  sql: "SQL",
  python: "Python",
  php: "PHP",
  ts: "TypeScript",
};

/** Returns a block of code with its language. The page's script turns adjacent blocks into tabs. */
export function codeBlock(code: string, language = ""): Html {
  const title = languages[language] ?? language;
  const block = html`<pre tabindex="0"><code>${highlight(code, language)}</code></pre>`;
  if (language === "mermaid") return diagram(code, block);
  return html`<figure class="code" data-language="${title}">
    ${title && html`<figcaption>${title}</figcaption>`}${block}
  </figure>`;
}

/** Returns a diagram as a picture, with its source for readers who can't see it. */
function diagram(source: string, block: Html): Html {
  const address = diagramAddress(source);
  return html`${
      address !== null &&
      html`<a class="picture" href="${address}"
        ><img class="diagram" src="${address}" alt="Diagram. Its source follows." loading="lazy"
      /></a>`
    }
    <details class="diagram-source">
      <summary>Source of the diagram (Mermaid)</summary>
      ${block}
    </details>`;
}

const { rules } = markdown.renderer;
rules.fence = (tokens, index) => {
  const { content, info } = tokens[index]!;
  return codeBlock(content.replace(/\n$/, ""), info.trim().split(/\s/)[0]).toString();
};
rules.code_block = (tokens, index) => codeBlock(tokens[index]!.content.replace(/\n$/, ""), "sh").toString();
rules.table_open = (tokens, index) => {
  labelCells(tokens.slice(index));
  return '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>';
};
rules.table_close = () => "</table></div>";

rules.heading_open = (tokens, index, options, env, renderer) => {
  const environment = toEnvironment(env);
  const token = tokens[index]!;
  const title = plainText(tokens[index + 1]!.children ?? []);
  const base = createAnchor(title);
  const times = environment.ids.get(base) ?? 0;
  environment.ids.set(base, times + 1);
  const id = times === 0 ? base : `${base}-${times}`;
  token.attrSet("id", id);
  environment.headings.push({ level: Number(token.tag.slice(1)), title, id });
  return renderer.renderToken(tokens, index, options);
};

rules.heading_close = (tokens, index, options, env, renderer) => {
  const { id } = toEnvironment(env).headings.at(-1)!;
  const link = html` <a class="anchor" href="#${id}" aria-label="Link to this part">#</a>`;
  return link.toString() + renderer.renderToken(tokens, index, options);
};

rules.link_open = (tokens, index, options, env, renderer) => {
  const environment = toEnvironment(env);
  const token = tokens[index]!;
  const found = environment.findLink(String(token.attrGet("href")));
  const close = tokens.slice(index).find(({ type, level }) => type === "link_close" && level === token.level);
  if (found !== null) token.attrSet("href", found);
  else {
    token.attrs = [["class", "file"]];
    token.tag = "span";
    if (close) close.tag = "span";
  }
  return renderer.renderToken(tokens, index, options);
};

rules.image = (tokens, index, _options, env) => {
  const environment = toEnvironment(env);
  const token = tokens[index]!;
  const source = environment.findLink(String(token.attrGet("src")));
  if (source === null) return "";
  const image = html`<img src="${source}" alt="${token.content}" loading="lazy" />`;
  return html`<a class="picture" href="${source}">${image}</a>`.toString();
};

type Token = ReturnType<typeof markdown.parse>[number];

/** Adds the heading of its column to each cell: narrow screens show a row as a list of labelled values. */
function labelCells(tokens: readonly Token[]): void {
  const headings: string[] = [];
  let column = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type === "table_close") return;
    if (token.type === "tr_open") column = 0;
    if (token.type === "th_open") headings.push(plainText(tokens[index + 1]!.children ?? []));
    if (token.type === "td_open") token.attrSet("data-label", headings[column++] ?? "");
  }
}

const plainText = (tokens: readonly Token[]): string =>
  tokens.map(({ type, content }) => (type === "softbreak" ? " " : content)).join("");

/** Returns the anchor of a heading, the same as on GitHub. */
const createAnchor = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

/** Matches a comment, or a block of code, whose comments stay. */
const commentPattern = /(^```[^]*?^```$)|<!--[^]*?-->/gm;

/** Returns a text without its comments. */
export const withoutComments = (source: string): string =>
  source.replace(commentPattern, (_all, code?: string) => code ?? "");

/** A text that was rendered to HTML. */
export interface RenderedText {
  title: string;
  content: Html;
  headings: Heading[];
  sections: Section[];
}

/** Divides a text at its headings, after rendering. */
function splitIntoSections(tokens: readonly Token[], headings: readonly Heading[]): Section[] {
  const sections: Section[] = [];
  const rendered = headings.values();
  for (const [index, { type, content, children }] of tokens.entries()) {
    const heading = type === "heading_open" && rendered.next().value;
    if (heading && heading.level < 4) sections.push({ ...heading, text: "" });
    const isTitle = tokens[index - 1]?.type === "heading_open" && sections.at(-1)?.text === "";
    if (isTitle || sections.length === 0) continue;
    if (type === "inline") sections.at(-1)!.text += `${plainText(children ?? [])}\n\n`;
    if (type === "fence" || type === "code_block") sections.at(-1)!.text += `${content}\n\n`;
  }
  return sections;
}

/** Renders a whole text. Its first heading is the title, and isn't part of the content. */
export function renderText(source: string, findLink: FindLink): RenderedText {
  const environment = createEnvironment(findLink);
  const tokens = markdown.parse(withoutComments(source), environment);
  const end = tokens.findIndex(({ type, tag }) => type === "heading_close" && tag === "h1");
  const title = plainText(tokens[1]?.children ?? []);
  const content = markdown.renderer.render(tokens.slice(end + 1), markdown.options, environment);
  const { headings } = environment;
  const sections = splitIntoSections(tokens, [{ level: 1, title, id: "" }, ...headings]);
  return { title, content: fromMarkdown(content), headings, sections };
}

/** Renders a description from the schema. */
export const renderDescription = (text: string | null | undefined): Html | null =>
  text ? fromMarkdown(markdown.render(text, createEmptyEnvironment())) : null;

/** Renders the first sentence of a description, in one line. */
export const renderSummary = (text: string | null | undefined): Html | null =>
  text ? fromMarkdown(markdown.renderInline(takeFirstSentence(text), createEmptyEnvironment())) : null;

/** Returns the first sentence of a section; null when it begins with code or a table. */
export function firstSentence(text: string): string | null {
  const first = takeFirstSentence(text);
  return first.endsWith(".") && !first.includes("\n") ? first : null;
}

/** Returns the first sentence of a text. */
export const takeFirstSentence = (text: string): string => {
  const [paragraph = ""] = text.split("\n\n");
  return /^.*?[.](?=\s|$)/s.exec(paragraph)?.[0].replaceAll("\n", " ") ?? paragraph;
};
