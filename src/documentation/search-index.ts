import { isEnumType } from "postgraphile/graphql";
import { errorCodes } from "../errors/api-error.ts";
import { eventPath } from "./events.ts";
import { renderFile, searchedGuides } from "./guides.ts";
import { summaryOf } from "./markdown.ts";
import type { Member, Model } from "./model.ts";
import { fieldsOf, isField, nameOf } from "./model.ts";
import { home } from "./print-page.ts";
import { pathOf } from "./reference/links.ts";

/** An entry that the search finds: title, kind, path below the home; for some the first sentence about it. */
type Entry = [title: string, kind: string, path: string, about?: string];

/** Everything that the search of a version finds, and the guides, whichever version they are read beside. */
export const searchIndex = (model: Model): Entry[] =>
  [
    ...searchedGuides.flatMap(({ path, file }): Entry[] => {
      const { title, headings } = renderFile(file);
      const parts = headings.filter(({ level }) => level === 2);
      return [
        [title, "Guide", path],
        ...parts.map((heading): Entry => [heading.title, title, `${path}#${heading.id}`]),
      ];
    }),
    ...[...model.rootFields, ...model.types].flatMap((member) => entriesOf(model, member)),
    ...model.edition.topics.map(({ name, description }): Entry => [
      name,
      "Event",
      eventPath(name),
      about(description),
    ]),
    ...Object.keys(errorCodes).map((code): Entry => [
      code,
      "Error",
      `${home}/reference/errors#codes-of-graphql-errors`,
    ]),
  ].map(([title, kind, path, ...more]) => [title, kind, path.slice(home.length + 1), ...more]);

const about = (description: string | null | undefined): string => summaryOf(description ?? "").slice(0, 120);

function entriesOf(model: Model, member: Member): Entry[] {
  const path = pathOf(model, member);
  const kind = model.kindOf(member);
  const own: Entry = [member.name, nameOf(kind), path, about(member.description)];
  // Pages, edges and filters all have the same fields
  if (isField(member) || kind === "lists" || kind === "filters") return [own];
  const [word, parts] = isEnumType(member) ? ["Value", member.getValues()] : ["Field", fieldsOf(member)];
  return [own, ...parts.map(({ name }): Entry => [`${member.name}.${name}`, word, `${path}#${name}`])];
}
