import type { Piece } from "./json-text.ts";
import { expression, json } from "./json-text.ts";
import type { PageRequest } from "./page-request.ts";

/** Makes the text of a page from the rows of a subquery `q`, which come backwards if the page is counted from the end. */
export class PageText {
  readonly #size: number;
  readonly #isBackward: boolean;
  readonly #alias: string;
  readonly #edges: string[] = [];
  #hasCursors = false;
  #looksFurther = false;

  constructor({ size, isBackward }: Pick<PageRequest, "size" | "isBackward">, alias: string) {
    this.#size = size;
    this.#isBackward = isBackward;
    this.#alias = alias;
  }

  /** Whether rows are needed. */
  get needsRows(): boolean {
    return this.#edges.length > 0 || this.#hasCursors || this.#looksFurther;
  }

  /** The most rows that the subquery must find. */
  get limit(): number {
    return this.#looksFurther ? this.#size + 1 : this.#size;
  }

  /** Columns that the subquery must select. */
  columns(key: string): string {
    const edges = this.#edges.map((text, index) => `${text} as e${index}`);
    return [...edges, ...(this.#hasCursors ? [`${key} as k`] : [])].join(",");
  }

  /** The edges; `makeEdge` makes the SQL expression of one from a row. */
  edges(makeEdge: () => string): Piece[] {
    if (this.#size === 0) return [json("[]")];
    const column = `${this.#alias}.e${this.#edges.push(makeEdge()) - 1}`;
    const read = `(array_agg(${column}))[1:${this.#size}]`;
    const page = this.#isBackward ? `array_reverse(${read})` : read;
    return [json("["), expression(`coalesce(array_to_string(${page},','),'')`), json("]")];
  }

  /** @param beyond another condition by which there are more, if there is one */
  hasMore(beyond: string | null): Piece[] {
    this.#looksFurther = true;
    const or = beyond === null ? "" : ` or ${beyond}`;
    return [expression(`case when count(*)>${this.#size}${or} then 'true' else 'false' end`)];
  }

  /** The cursor of the first or last row; `toText` makes it from a row's key. */
  cursor(which: "startCursor" | "endCursor", toText: (key: string) => string): Piece[] {
    if (this.#size === 0) return [json("null")];
    this.#hasCursors = true;
    const isFirstRead = (which === "startCursor") !== this.#isBackward;
    const position = isFirstRead ? "1" : `least(count(*),${this.#size})`;
    return [expression(`coalesce(${toText(`(array_agg(${this.#alias}.k))[${position}]`)},'null')`)];
  }
}
