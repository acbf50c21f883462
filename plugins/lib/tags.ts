type TagValue = null | true | string | (string | true)[] | undefined;

/** Anything that PostGraphile makes of an SQL object: the extensions have the smart tags of its comment. */
export interface Tagged {
  extensions?: { tags?: { [name: string]: TagValue } } | undefined;
}

/** Returns the values of a smart tag, one for each time that the comment has it. */
export function tagLines(thing: Tagged | null | undefined, name: string): string[] {
  const value = thing?.extensions?.tags?.[name];
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map((line) => (line === true ? "" : line.trim()));
}

/** Returns the value of a smart tag that occurs once; undefined without the tag, "" without a value. */
export function tagText(thing: Tagged | null | undefined, name: string): string | undefined {
  return tagLines(thing, name)[0];
}

/** Returns the words of all values of a smart tag, separated by blanks or commas. */
export const tagWords = (thing: Tagged | null | undefined, name: string): string[] =>
  tagLines(thing, name).flatMap(splitWords);

/** Splits a text into words, separated by blanks or commas. */
export const splitWords = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Whether the comment has the tag. */
export function hasTag(thing: Tagged | null | undefined, name: string): boolean {
  return tagLines(thing, name).length > 0;
}
