import type { GraphQLNamedType } from "postgraphile/graphql";
import { errorCodes } from "../errors/api-error.ts";
import { eventPath } from "./events.ts";
import { guidePath, guides, outlineOf } from "./guides.ts";
import { summaryOf } from "./markdown.ts";
import type { Model } from "./model.ts";
import { nameOf } from "./model.ts";
import { home } from "./print-page.ts";
import { rootPath, typePath } from "./reference/links.ts";

/** An entry that the search finds: title, kind, path below the home; for some the first sentence about it. */
type Entry = [title: string, kind: string, path: string, about?: string];

/** Everything that the search of a version finds, and the guides, whichever version they are read beside. */
export function searchIndex(model: Model): Entry[] {
  return entriesIn(model).map(([title, kind, path, ...more]) => [
    title,
    kind,
    path.slice(home.length + 1),
    ...more,
  ]);
}

function entriesIn(model: Model): Entry[] {
  const { topics } = model.edition;
  return [
    ...guides.flatMap((guide): Entry[] => {
      const path = guidePath(guide);
      const { title, headings } = outlineOf(guide);
      return [
        [title, "Guide", path],
        ...headings.map((heading): Entry => [heading.title, title, `${path}#${heading.id}`]),
      ];
    }),
    ...model.rootFields.map((field): Entry => [
      field.name,
      nameOf(model.rootOf(field)),
      rootPath(model, field),
      about(field.description),
    ]),
    ...model.types.flatMap((type) => entriesOf(model, type)),
    ...topics.map(({ name, description }): Entry => [name, "Event", eventPath(name), about(description)]),
    ...Object.keys(errorCodes).map((code): Entry => [
      code,
      "Error",
      `${home}/guides/errors#codes-of-graphql-errors`,
    ]),
  ];
}

const about = (description: string | null | undefined): string => summaryOf(description ?? "").slice(0, 120);

function entriesOf(model: Model, type: GraphQLNamedType): Entry[] {
  const path = typePath(model, type);
  const kind = model.kindOf(type);
  const own: Entry = [type.name, nameOf(kind), path, about(type.description)];
  // Pages, edges and filters all have the same fields
  if (kind === "lists" || kind === "filters") return [own];
  const members =
    "getValues" in type
      ? type.getValues()
      : "getFields" in type
        ? Object.values<{ name: string }>(type.getFields())
        : [];
  const word = "getValues" in type ? "Value" : "Field";
  return [own, ...members.map(({ name }): Entry => [`${type.name}.${name}`, word, `${path}#${name}`])];
}
