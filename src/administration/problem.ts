/** Ends a request with a page that explains why another can't be shown (problem-page.ts). The message is its text. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;

  constructor(status: number, title: string, text: string) {
    super(text);
    this.status = status;
    this.title = title;
  }
}

/** No such page, or not any more. */
export const missing = () =>
  new Problem(404, "There is nothing here", "The address is wrong, or what it belonged to has been deleted.");

/** Returns what a page is about. @throws {Problem} when there is no such thing */
export function found<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw missing();
  return thing;
}

/** A request that no page of ours sends. */
export const malformed = (status = 400) =>
  new Problem(status, "This can’t be read", "The browser sent something that this page doesn’t accept.");
