import type { ExportQueries, AddedNames } from "./export-query.ts";
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

/** Reads all rows of a list, page by page. Each row is followed by the rows of its nested lists. */
export async function* exportLines(queries: ExportQueries, run: RunQuery): AsyncGenerator<Line[]> {
  let after: string | null = null;
  do {
    const data: Json = await run(queries.page, { [queries.names.after]: after });
    const page = data[queries.key] as Page;
    const reading = new PageReading(queries, run);
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
}

/** Collects the lines of a page of the list. */
class PageReading {
  readonly lines: Line[] = [];
  readonly #queries: ExportQueries;
  readonly #run: RunQuery;

  constructor(queries: ExportQueries, run: RunQuery) {
    this.#queries = queries;
    this.#run = run;
  }

  async addPage({ edges }: Page, parentId: unknown, path: readonly string[]): Promise<void> {
    for (const edge of edges) if (edge?.node) await this.#addRow(edge.node, parentId, path);
  }

  async #addRow(row: Json, parentId: unknown, path: readonly string[]): Promise<void> {
    const lists: NestedList[] = [];
    const values = this.#collectValues(row, path, lists);
    const rowId = row[this.#queries.names.id];
    const id = rowId === undefined ? {} : { id: rowId };
    const parent = parentId === null ? {} : { __parentId: parentId };
    this.lines.push({ values: { ...id, ...values, ...parent }, path });
    for (const list of lists) await this.#addList(list, rowId);
  }

  /** Adds all rows of a nested list. */
  async #addList({ page: first, ownerId, path }: NestedList, parentId: unknown): Promise<void> {
    const { names, more } = this.#queries;
    for (let page = first; ;) {
      await this.addPage(page, parentId, path);
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
        lists.push({ page: value as Page, ownerId: object[names.id], path: here });
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
