/** Thrown to show an error page instead of the requested one (problem-page.ts). The message is its text. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;

  constructor(status: number, title: string, text: string) {
    super(text);
    this.status = status;
    this.title = title;
  }
}

/** Makes the error for a page that doesn't exist, or no longer exists. */
export const notFound = () =>
  new Problem(404, "There is nothing here", "The address is wrong, or what it belonged to has been deleted.");

/** Returns the object of a page. @throws {Problem} if there is none */
export function requireFound<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw notFound();
  return thing;
}

/** Makes the error for a request that none of our pages sends. */
export const badRequest = (status = 400) =>
  new Problem(status, "This can’t be read", "The browser sent something that this page doesn’t accept.");
