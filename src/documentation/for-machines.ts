import { readFileSync } from "node:fs";
import { changelogFile, guideGroups, createLinkFinder, renderFile, root, searchedGuides } from "./guides.ts";
import { firstSentence, withoutComments } from "./markdown.ts";
import type { Site } from "./print-page.ts";
import { home } from "./print-page.ts";

/** Paths of the documentation as text for programs: https://llmstxt.org */
export const [indexPath, fullPath] = ["/llms.txt", "/llms-full.txt"];

/** Returns the address of a guide as Markdown. */
export const markdownPath = (path: string): string => `${path}.md`;

const summary =
  "A GraphQL API over the database of an ERP and warehouse-management system: products, stock and its ledger, purchasing, orders, fulfillment, invoices, webhooks.";

/** Matches a link in Markdown, or a block of code, whose links stay unchanged. */
const links = /(^```[^]*?^```$)|\[([^\]]*)\]\(([^)\s]+)\)/gm;

/** Returns a file as Markdown, with links to other pages as Markdown. Links to files without a page become text. */
export function convertToMarkdown(file: string): string {
  const findLink = createLinkFinder(file, markdownPath);
  return withoutComments(readFileSync(new URL(file, root), "utf8")).replace(
    links,
    (_all, code: string | undefined, text: string, address: string) => {
      if (code !== undefined) return code;
      const found = findLink(address);
      return found === null ? text : `[${text}](${found})`;
    },
  );
}

const createEntry = (title: string, path: string, about?: string): string =>
  `- [${title}](${path})${about ? `: ${about}` : ""}`;

/** Returns the entry of a guide, with its first sentence, or its headings if it begins with something else. */
function pageEntry(path: string, file: string): string {
  const { title, headings, sections } = renderFile(file);
  const titles = headings.filter(({ level }) => level === 2).map((heading) => heading.title);
  return createEntry(title, markdownPath(path), firstSentence(sections[0]!.text) ?? titles.join(", "));
}

/** Returns the index of the documentation, with a line for each page. */
export function machineIndex(site: Site): string {
  const groups = guideGroups.map(({ title, guides }) => {
    // By the convention of llms.txt, readers may skip the section “Optional”
    const isSearched = guides.every((guide) => searchedGuides.includes(guide));
    return [
      `## ${isSearched ? title : "Optional"}`,
      ...guides.map(({ path, file }) => pageEntry(path, file)),
    ];
  });
  const schemas = site.versions.map(({ slug, path }) =>
    createEntry(`Schema of ${slug}`, `${path}/schema.graphql`, `SDL, with the scopes of each field`),
  );
  const more = [
    "## Schemas and changes",
    ...schemas,
    pageEntry(`${home}/changelog`, changelogFile),
    createEntry("All guides and the reference in one file", fullPath),
  ];
  const parts = [...groups.slice(0, -1), more, ...groups.slice(-1)];
  return `# Stock and order GraphQL\n\n> ${summary}\n\n${parts.map(([title, ...lines]) => `${title}\n\n${lines.join("\n")}\n`).join("\n")}`;
}

/** Returns the text of all guides except the internals. */
export const allPages = (): string =>
  searchedGuides
    .map(({ path, file }) => `<!-- ${path} -->\n\n${convertToMarkdown(file).trim()}\n`)
    .join("\n");
