import type { Ask } from "../contestants/contestant.ts";
import { dataOf } from "../contestants/contestant.ts";

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/**
 * Finds out what the cursors of a peer's list look like: they hold the row's id as text in Base64, beside what says
 * how the list is sorted.
 *
 * @param list name of the root field
 * @returns the cursor of a row by its id
 */
export async function learnCursors(ask: Ask, list: string): Promise<(id: string) => string> {
  const query = `{ list: ${list}(first: 1) { edges { cursor } } }`;
  const data = dataOf(await ask({ path: "/graphql", body: { query } }));
  const { cursor } = (data as { list: { edges: { cursor: string }[] } }).list.edges[0]!;
  const text = Buffer.from(cursor, "base64").toString();
  if (!uuid.test(text)) throw new Error(`A cursor of ${list} holds no id: ${text}`);
  return (id) => Buffer.from(text.replace(uuid, id)).toString("base64");
}
