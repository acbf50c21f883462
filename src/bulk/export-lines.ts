import { names } from "./export-query.ts";
import type { ExportQueries } from "./export-query.ts";
import type { DocumentNode } from "postgraphile/graphql";

type Json = Record<string, unknown>;

/** A page of a list in an answer. */
interface Page {
  edges?: ({ node?: Json | null } | null)[];
}

/** A line of a file: the row, and how it came: names of the lists that it is in, from within the exported one. */
export interface Line {
  values: Json;
  path: readonly string[];
}

/** Runs a query, and answers its data. */
export type RunQuery = (document: DocumentNode, variables: Json) => Promise<Json>;

/** Reads all rows of a list, a page at a time, each followed by the rows of lists within it. */
export async function* exportLines(queries: ExportQueries, run: RunQuery): AsyncGenerator<Line[]> {
  let after: string | null = null;
  do {
    const data: Json = await run(queries.page, { bulk_after: after });
    const page = data[queries.key] as Page;
    const lines: Line[] = [];
    await addPage({ queries, run, lines }, page, null, []);
    yield lines;
    after = pageInfoOf(page)!.after;
  } while (after !== null);
}

interface Writing {
  queries: ExportQueries;
  run: RunQuery;
  lines: Line[];
}

async function addPage(
  writing: Writing,
  { edges = [] }: Page,
  parentId: unknown,
  path: readonly string[],
): Promise<void> {
  for (const edge of edges) if (edge?.node) await addRow(writing, edge.node, parentId, path);
}

async function addRow(
  writing: Writing,
  row: Json,
  parentId: unknown,
  path: readonly string[],
): Promise<void> {
  const lists: { page: Page; ownerId: unknown; path: readonly string[] }[] = [];
  const values = valuesOf(row, path, (page, ownerId, here) => lists.push({ page, ownerId, path: here }));
  const id = row[names.id] === undefined ? {} : { id: row[names.id] };
  const parent = parentId === null ? {} : { __parentId: parentId };
  writing.lines.push({ values: { ...id, ...values, ...parent }, path });
  for (const list of lists) await addList(writing, list.page, list.ownerId, list.path);
}

/** All rows of a list within a row. */
async function addList(
  writing: Writing,
  first: Page,
  ownerId: unknown,
  path: readonly string[],
): Promise<void> {
  for (let page = first; ;) {
    await addPage(writing, page, ownerId, path);
    const { after, number } = pageInfoOf(page)!;
    if (after === null) return;
    const variables = { bulk_id: ownerId, bulk_after: after };
    const { node } = await writing.run(writing.queries.more(number), variables);
    page = (node as Json)[names.more] as Page;
  }
}

/** The values of an object without its lists, which are told. */
function valuesOf(
  object: Json,
  path: readonly string[],
  onList: (page: Page, ownerId: unknown, path: readonly string[]) => void,
): Json {
  const values: Json = {};
  for (const [key, value] of Object.entries(object)) {
    if (key === names.id) continue;
    if (typeof value !== "object" || value === null || Array.isArray(value)) values[key] = value;
    else if (pageInfoOf(value)) onList(value, object[names.id], [...path, key]);
    else values[key] = valuesOf(value as Json, [...path, key], onList);
  }
  return values;
}

/** Where a page ends: its cursor, if there are more rows, and the number of the list. Null when it is no page. */
function pageInfoOf(object: object): { after: string | null; number: number } | null {
  for (const key in object)
    if (key.startsWith(names.page)) {
      const { hasNextPage, endCursor } = (object as Json)[key] as { hasNextPage: boolean; endCursor: string };
      return { after: hasNextPage ? endCursor : null, number: Number(key.slice(names.page.length)) };
    }
  return null;
}
