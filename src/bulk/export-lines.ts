import { RefusedExport } from "./export-query.ts";
import type { ExportQueries } from "./export-query.ts";
import type { AddedNames } from "./query-nodes.ts";
import type { DocumentNode } from "postgraphile/graphql";

type Json = Record<string, unknown>;

/** A page of a list in a response. */
interface Page {
  edges: ({ node?: Json | null } | null)[];
}

/** A line of a file: the row, and the path of its nested list, which is empty for rows of the exported list itself. */
export interface Line {
  values: Json;
  path: readonly string[];
}

/** Runs a query and returns its data. */
export type RunQuery = (document: DocumentNode, variables: Json) => Promise<Json>;

/** Most rows of nested lists in a line for an import, which is in memory as a whole. */
const maxNestedRows = 10_000;

/**
 * Reads all rows of a list, page by page. Each row is followed by the rows of its nested lists. For an import it has them
 * within, and what has one field is that field's value: `customerNumber: customer { customerNumber }` is a text.
 *
 * @throws {RefusedExport} if a row has too many others within
 */
export async function* exportLines(
  queries: ExportQueries,
  run: RunQuery,
  isForImport: boolean,
): AsyncGenerator<Line[]> {
  let after: string | null = null;
  do {
    const data: Json = await run(queries.page, { [queries.names.after]: after });
    const page = data[queries.key] as Page;
    const reading = new PageReading(queries, run, isForImport);
    await reading.addPage(page, null, []);
    yield reading.lines;
    after = pageEnd(page, queries.names)!.after;
  } while (after !== null);
}

/** A nested list of which the first page has been read. */
interface NestedList {
  page: Page;
  /** Id of the object that has the list: the row, or an object within it. */
  ownerId: unknown;
  path: readonly string[];
  /** The object that gets the rows, if they are written within it. */
  owner: Json;
}

/** Collects the lines of a page of the list. */
class PageReading {
  readonly lines: Line[] = [];
  readonly #queries: ExportQueries;
  readonly #run: RunQuery;
  readonly #isForImport: boolean;

  constructor(queries: ExportQueries, run: RunQuery, isForImport: boolean) {
    this.#queries = queries;
    this.#run = run;
    this.#isForImport = isForImport;
  }

  async addPage({ edges }: Page, parentId: unknown, path: readonly string[]): Promise<void> {
    for (const edge of edges)
      if (edge?.node)
        await (this.#isForImport ? this.#addNestedRow(edge.node) : this.#addRow(edge.node, parentId, path));
  }

  async #addNestedRow(row: Json): Promise<void> {
    let count = 0;
    const nest = async (node: Json, path: readonly string[]): Promise<unknown> => {
      const lists: NestedList[] = [];
      const values = this.#collectValues(node, path, lists);
      for (const list of lists) {
        const rows: unknown[] = [];
        for await (const { edges } of this.#pages(list)) {
          count += edges.length;
          if (count > maxNestedRows)
            throw new RefusedExport(`A row has more than ${maxNestedRows} rows in its lists.`);
          for (const edge of edges) if (edge?.node) rows.push(await nest(edge.node, list.path));
        }
        list.owner[list.path.at(-1)!] = rows;
      }
      return this.#collapse(values, path);
    };
    this.lines.push({ values: (await nest(row, [])) as Json, path: [] });
  }

  /** Replaces objects within an object, and it itself, by the value of their only field, if the query requests one field. */
  #collapse(values: Json, path: readonly string[]): unknown {
    for (const [key, value] of Object.entries(values))
      if (typeof value === "object" && value !== null && !Array.isArray(value))
        values[key] = this.#collapse(value as Json, [...path, key]);
    return this.#queries.single.has(path.join(".")) ? Object.values(values)[0] : values;
  }

  async #addRow(row: Json, parentId: unknown, path: readonly string[]): Promise<void> {
    const lists: NestedList[] = [];
    const values = this.#collectValues(row, path, lists);
    const rowId = row[this.#queries.names.id];
    const id = rowId === undefined ? {} : { id: rowId };
    const parent = parentId === null ? {} : { __parentId: parentId };
    this.lines.push({ values: { ...id, ...values, ...parent }, path });
    for (const list of lists)
      for await (const page of this.#pages(list)) await this.addPage(page, rowId, list.path);
  }

  async *#pages({ page: first, ownerId, path }: NestedList): AsyncGenerator<Page> {
    const { names, more } = this.#queries;
    for (let page = first; ;) {
      yield page;
      const { after } = pageEnd(page, names)!;
      if (after === null) return;
      const { node } = await this.#run(more(path), { [names.id]: ownerId, [names.after]: after });
      page = (node as Json)[names.more] as Page;
    }
  }

  /** Returns the values of an object without its nested lists, which are appended to `lists`. */
  #collectValues(object: Json, path: readonly string[], lists: NestedList[]): Json {
    const { names } = this.#queries;
    const values: Json = {};
    for (const [key, value] of Object.entries(object)) {
      if (key === names.id) continue;
      const here = [...path, key];
      if (typeof value !== "object" || value === null || Array.isArray(value)) values[key] = value;
      else if (pageEnd(value, names))
        lists.push({ page: value as Page, ownerId: object[names.id], path: here, owner: values });
      else values[key] = this.#collectValues(value as Json, here, lists);
    }
    return values;
  }
}

/** Returns the cursor at the end of a page, or a null cursor after the last page. Returns null if the object is no page. */
function pageEnd(object: object, { page }: AddedNames): { after: string | null } | null {
  const end = (object as Json)[page] as { hasNextPage: boolean; endCursor: string } | undefined;
  return end ? { after: end.hasNextPage ? end.endCursor : null } : null;
}
