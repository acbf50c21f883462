import { readFileSync } from "node:fs";
import { isEnumType } from "postgraphile/graphql";
import { errorCodes } from "../errors/api-error.ts";
import { eventPath } from "./events.ts";
import { renderFile, searchedGuides } from "./guides.ts";
import { firstSentence, takeFirstSentence } from "./markdown.ts";
import type { Member, Model } from "./model.ts";
import { listFields, isField, getKindName } from "./model.ts";
import { home } from "./print-page.ts";
import { getMemberPath } from "./reference/links.ts";

/** An entry of the search: title, kind, path below /docs, and optionally its first sentence and other words to find it by. */
type Entry = [title: string, kind: string, path: string, about?: string, words?: string];

/** For words of the documentation, patterns of what readers may type instead. */
const synonyms: Record<string, string[]> = Object.fromEntries(
  readFileSync(new URL("./synonyms.txt", import.meta.url), "utf8")
    .matchAll(/^([^#:\n]+): (.+)$/gm)
    .map(([, ours, typed]) => [ours!, typed!.split(", ")]),
);

/** Returns the data of the search on pages of a version: its reference, all guides, and synonyms. */
export const searchIndex = (model: Model): { entries: Entry[]; synonyms: typeof synonyms } => ({
  synonyms,
  entries: [
    ...searchedGuides.flatMap(({ path, file }) => createGuideEntries(path, file)),
    ...[...model.rootFields, ...model.types].flatMap((member) => createEntries(model, member)),
    ...model.edition.topics.map(({ name, description }): Entry => [
      name,
      "Event",
      eventPath(name),
      shorten(description),
    ]),
    ...Object.keys(errorCodes).map((code): Entry => [
      code,
      "Error",
      `${home}/reference/errors#codes-of-graphql-errors`,
    ]),
  ].map(([title, kind, path, ...more]) => [title, kind, path.slice(home.length + 1), ...more]),
});

/** Returns entries for a guide and its sections. */
function createGuideEntries(path: string, file: string): Entry[] {
  const { title, sections } = renderFile(file);
  return sections.map(({ level, title: heading, id, text }) => {
    const words = distinctWords(text);
    const first = firstSentence(text)?.slice(0, 120) ?? "";
    return level === 1
      ? [title, "Guide", path, first, words]
      : [heading, title, `${path}#${id}`, first, words];
  });
}

/** Returns each word of a text once. */
const distinctWords = (text: string): string =>
  [...new Set(text.match(/\p{L}[\p{L}\p{N}_]+|\b\d{3}\b/gu))].join(" ");

const shorten = (description: string | null | undefined): string =>
  takeFirstSentence(description ?? "").slice(0, 120);

function createEntries(model: Model, member: Member): Entry[] {
  const path = getMemberPath(model, member);
  const kind = model.kindOf(member);
  const entry: Entry = [member.name, getKindName(kind), path, shorten(member.description)];
  // Pages, edges and filters all have the same fields
  if (isField(member) || kind === "lists" || kind === "filters") return [entry];
  const [word, parts] = isEnumType(member) ? ["Value", member.getValues()] : ["Field", listFields(member)];
  return [entry, ...parts.map(({ name }): Entry => [`${member.name}.${name}`, word, `${path}#${name}`])];
}
