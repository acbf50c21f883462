import type { Piece } from "./json-text.ts";
import { expression, json } from "./json-text.ts";

/** Makes the text of a page from the rows of a subquery `q`. */
export class PageText {
  readonly #first: number;
  readonly #alias: string;
  readonly #edges: string[] = [];
  #hasCursors = false;
  #looksFurther = false;

  constructor(first: number, alias: string) {
    this.#first = first;
    this.#alias = alias;
  }

  /** Whether rows are needed. */
  get needsRows(): boolean {
    return this.#edges.length > 0 || this.#hasCursors || this.#looksFurther;
  }

  /** The most rows that the subquery must find. */
  get limit(): number {
    return this.#looksFurther ? this.#first + 1 : this.#first;
  }

  /** Columns that the subquery must select. */
  columns(key: string): string {
    const edges = this.#edges.map((text, index) => `${text} as e${index}`);
    return [...edges, ...(this.#hasCursors ? [`${key} as k`] : [])].join(",");
  }

  /** The edges; `makeEdge` makes the SQL expression of one from a row. */
  edges(makeEdge: () => string): Piece[] {
    if (this.#first === 0) return [json("[]")];
    const column = `${this.#alias}.e${this.#edges.push(makeEdge()) - 1}`;
    const page = `(array_agg(${column}))[1:${this.#first}]`;
    return [json("["), expression(`coalesce(array_to_string(${page},','),'')`), json("]")];
  }

  hasMore(): Piece[] {
    this.#looksFurther = true;
    return [expression(`case when count(*)>${this.#first} then 'true' else 'false' end`)];
  }

  /** The cursor of the first or last row; `toText` makes it from a row's key. */
  cursor(which: "startCursor" | "endCursor", toText: (key: string) => string): Piece[] {
    if (this.#first === 0) return [json("null")];
    this.#hasCursors = true;
    const position = which === "startCursor" ? "1" : `least(count(*),${this.#first})`;
    return [expression(`coalesce(${toText(`(array_agg(${this.#alias}.k))[${position}]`)},'null')`)];
  }
}
