import type { GraphQLObjectType } from "postgraphile/graphql";
import { AggregateText } from "./aggregate-text.ts";
import type { Compilation, Field } from "./compilation.ts";
import { objectTypeOf } from "./compilation.ts";
import type { Piece } from "./json-text.ts";
import { concatenated, expression, json } from "./json-text.ts";
import type { FieldSource, ListSource } from "./field-source.ts";
import { ListRows } from "./list-rows.ts";
import type { SelectedField } from "./selection.ts";
import { NotCovered } from "./selection.ts";
import type { Range } from "./ranges.ts";

/** The number of rows at which counting stops. */
export const maxCount = 10_000;

/**
 * Returns SQL of the JSON text of a page of rows.
 *
 * A subquery finds the rows, one more than requested if the client wants to know whether there are more, and builds a
 * text of each; the outer query concatenates these. Whether rows exist before the page, or after an empty one, takes
 * one index lookup.
 *
 * @param parent the alias of the row that the list belongs to; null for lists of all rows
 */
export const listExpression = (
  compilation: Compilation,
  field: Field,
  list: ListSource,
  selected: SelectedField,
  parent: string | null,
): string => new ListCompilation(compilation, list, selected, parent).expression(objectTypeOf(field));

class ListCompilation {
  readonly #compilation: Compilation;
  readonly #selected: SelectedField;
  readonly #rows: ListRows;
  /** The alias of the subquery of the page's rows, which are in reverse order if the page is counted from the end. */
  readonly #found: string;
  /** The texts of edges that the subquery selects. */
  readonly #edges: string[] = [];
  #hasCursors = false;
  #looksFurther = false;
  /** Set once an aggregate is selected. */
  #aggregated: AggregateText | null = null;

  constructor(compilation: Compilation, list: ListSource, selected: SelectedField, parent: string | null) {
    this.#compilation = compilation;
    this.#selected = selected;
    this.#rows = new ListRows(compilation, list, selected, parent);
    this.#found = compilation.alias();
  }

  get #page() {
    return this.#compilation.given(this.#selected.node, "page");
  }

  expression(type: GraphQLObjectType): string {
    const alias = this.#compilation.alias();
    const text = concatenated(this.#answer(type, alias));
    const needsRows = this.#edges.length > 0 || this.#hasCursors || this.#looksFurther;
    if (!needsRows && !this.#aggregated) return text;
    const aggregated = this.#aggregated
      ? `${this.#aggregated.rows((rows) => this.#rows.in("all", rows)[0]!)} `
      : "";
    const from = needsRows ? ` from (${this.#pageRows(alias)}) ${this.#found}` : "";
    return `(${aggregated}select ${text}${from})`;
  }

  /** Returns SQL of the page's rows, in the order in which they are read. If the page has two parts, each is limited too. */
  #pageRows(alias: string): string {
    const order = this.#rows.order(alias);
    const key = this.#rows.keyOf(alias);
    const edges = this.#edges.map((text, index) => `${text} as e${index}`);
    const columns = [...edges, ...(this.#hasCursors ? [`${key} as k`] : [])];
    const parts = this.#rows.in("page", alias);
    const limit = this.#looksFurther ? this.#page.size + 1 : this.#page.size;
    const ends = `order by ${order.join()} limit ${limit}`;
    if (parts.length === 1) return `select ${columns.join()} ${parts[0]} ${ends}`;
    const isDescending = (part: string) => part.endsWith(" desc");
    const places = order.map(
      (part, index) => `${isDescending(part) ? part.slice(0, -5) : part} as o${index}`,
    );
    const all = [...columns, ...places].join();
    const together = parts.map((part) => `(select ${all} ${part} ${ends})`).join(" union all ");
    const outer = order.map((part, index) => `o${index}${isDescending(part) ? " desc" : ""}`);
    return `select * from (${together}) ${this.#compilation.alias()} order by ${outer.join()} limit ${limit}`;
  }

  #answer(type: GraphQLObjectType, alias: string): Piece[] {
    return this.#compilation.object(type, this.#selected, (field, { kind }, part) => {
      const below = objectTypeOf(field);
      if (kind === "edges") return this.#edgesText(below, part, alias);
      if (kind === "aggregates") return [expression(this.#aggregates.ofAll(below, part))];
      if (kind === "groupedAggregates") {
        const groups = this.#compilation.given(part.node, "groups");
        return [expression(this.#aggregates.ofGroups(below, part, groups))];
      }
      if (kind === "totalCount") return [this.#count(below, part)];
      if (kind !== "pageInfo") throw new NotCovered(kind);
      return this.#compilation.object(below, part, (_field, question) => this.#pageInfo(question.kind));
    });
  }

  get #aggregates(): AggregateText {
    return (this.#aggregated ??= new AggregateText(this.#compilation));
  }

  #edgesText(type: GraphQLObjectType, selected: SelectedField, alias: string): Piece[] {
    const { size, isBackward } = this.#page;
    if (size === 0) return [json("[]")];
    const column = `${this.#found}.e${this.#edges.push(this.#edge(type, selected, alias)) - 1}`;
    const read = `(array_agg(${column}))[1:${size}]`;
    const page = isBackward ? `array_reverse(${read})` : read;
    return [json("["), expression(`coalesce(array_to_string(${page},','),'')`), json("]")];
  }

  #edge(type: GraphQLObjectType, selected: SelectedField, alias: string): string {
    return concatenated(
      this.#compilation.object(type, selected, (field, { kind }, part) => {
        if (kind === "cursor") return [expression(this.#rows.cursor(this.#rows.keyOf(alias)))];
        if (kind !== "entry") throw new NotCovered(kind);
        return [expression(this.#compilation.row(objectTypeOf(field), part, alias))];
      }),
    );
  }

  #pageInfo(question: FieldSource["kind"]): Piece[] {
    const { size, isBackward, after, before } = this.#page;
    const [isNext, isPrevious] = [question === "hasNextPage", question === "hasPreviousPage"];
    if (question === "startCursor" || question === "endCursor") return this.#cursor(question);
    if (!isNext && !isPrevious) throw new NotCovered(question);
    // Whether rows can be missing on this side because of the page's size
    const isOpen = isNext !== isBackward;
    if (isOpen && size === 0) return [whether(this.#anyIn(isNext ? "afterStart" : "beforeEnd"))];
    const beyond = isNext ? before && this.#anyIn("following") : after && this.#anyIn("preceding");
    if (!isOpen) return [beyond === null ? json("false") : whether(beyond)];
    this.#looksFurther = true;
    return [whether(`count(*)>${size}${beyond === null ? "" : ` or ${beyond}`}`)];
  }

  /** Returns SQL of the cursor of the first or last row. */
  #cursor(which: "startCursor" | "endCursor"): Piece[] {
    const { size, isBackward } = this.#page;
    if (size === 0) return [json("null")];
    this.#hasCursors = true;
    const isFirstRead = (which === "startCursor") !== isBackward;
    const position = isFirstRead ? "1" : `least(count(*),${size})`;
    const cursor = this.#rows.cursor(`(array_agg(${this.#found}.k))[${position}]`);
    return [expression(`coalesce(${cursor},'null')`)];
  }

  /** Returns SQL of the count. It counts one row more than the maximum, which shows whether there are more. */
  #count(type: GraphQLObjectType, selected: SelectedField): Piece {
    const rows = this.#compilation.alias();
    const pieces = this.#compilation.object(type, selected, (_field, { kind }) => {
      if (kind === "count") return [expression(`least(${rows}.n,${maxCount})::text`)];
      if (kind !== "precision") throw new NotCovered(kind);
      return [expression(`case when ${rows}.n>${maxCount} then '"AT_LEAST"' else '"EXACT"' end`)];
    });
    const [all] = this.#rows.in("all", this.#compilation.alias());
    const counted = `(select count(*) as n from (select ${all!} limit ${maxCount + 1}) ${rows}) ${rows}`;
    return expression(`(select ${concatenated(pieces)} from ${counted})`);
  }

  #anyIn(range: Range): string {
    const rows = this.#rows.in(range, this.#compilation.alias());
    return rows.map((part) => `exists(select ${part})`).join(" or ");
  }
}

const whether = (condition: string): Piece =>
  expression(`case when ${condition} then 'true' else 'false' end`);
