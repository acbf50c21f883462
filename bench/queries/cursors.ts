import type { Ask } from "../contestants/contestant.ts";
import { dataOf } from "../contestants/contestant.ts";

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/**
 * Finds out the form of a peer's cursors: they contain the row's id as text in Base64, beside the order of the list.
 *
 * @param list name of the root field
 * @returns a function from a row's id to its cursor
 */
export async function learnCursors(ask: Ask, list: string): Promise<(id: string) => string> {
  const query = `{ list: ${list}(first: 1) { edges { cursor } } }`;
  const data = dataOf(await ask({ path: "/graphql", body: { query } }));
  const { cursor } = (data as { list: { edges: { cursor: string }[] } }).list.edges[0]!;
  const text = Buffer.from(cursor, "base64").toString();
  if (!uuid.test(text)) throw new Error(`A cursor of ${list} holds no id: ${text}`);
  return (id) => Buffer.from(text.replace(uuid, id)).toString("base64");
}
