import type { GraphQLObjectType } from "postgraphile/graphql";
import { AggregateText } from "./aggregate-text.ts";
import type { Compilation, Field } from "./compilation.ts";
import { requireObjectType } from "./compilation.ts";
import type { Piece } from "./json-text.ts";
import { concatenate, sqlPiece, jsonPiece } from "./json-text.ts";
import type { FieldSource, ListSource } from "./field-source.ts";
import { ListRows } from "./list-rows.ts";
import type { SelectedField } from "./selection.ts";
import { UnsupportedOperation } from "./selection.ts";
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
export const buildList = (
  compilation: Compilation,
  field: Field,
  list: ListSource,
  selected: SelectedField,
  parent: string | null,
): string => new ListCompilation(compilation, list, selected, parent).build(requireObjectType(field));

class ListCompilation {
  readonly #compilation: Compilation;
  readonly #selected: SelectedField;
  readonly #rows: ListRows;
  /** The alias of the subquery of the page's rows, which are in reverse order if the page is counted from the end. */
  readonly #pageAlias: string;
  /** The texts of edges that the subquery selects. */
  readonly #edges: string[] = [];
  #hasCursors = false;
  #readsOneMore = false;
  /** Set once an aggregate is selected. */
  #aggregateText: AggregateText | null = null;

  constructor(compilation: Compilation, list: ListSource, selected: SelectedField, parent: string | null) {
    this.#compilation = compilation;
    this.#selected = selected;
    this.#rows = new ListRows(compilation, list, selected, parent);
    this.#pageAlias = compilation.createAlias();
  }

  get #page() {
    return this.#compilation.getArgument(this.#selected.node, "page");
  }

  build(type: GraphQLObjectType): string {
    const alias = this.#compilation.createAlias();
    const text = concatenate(this.#buildResult(type, alias));
    const needsRows = this.#edges.length > 0 || this.#hasCursors || this.#readsOneMore;
    if (!needsRows && !this.#aggregateText) return text;
    const aggregated = this.#aggregateText
      ? `${this.#aggregateText.rows((rows) => this.#rows.buildFromClauses("all", rows)[0]!)} `
      : "";
    const from = needsRows ? ` from (${this.#pageRows(alias)}) ${this.#pageAlias}` : "";
    return `(${aggregated}select ${text}${from})`;
  }

  /** Returns SQL of the page's rows, in the order in which they are read. If the page has two parts, each is limited too. */
  #pageRows(alias: string): string {
    const order = this.#rows.buildOrder(alias);
    const key = this.#rows.buildKey(alias);
    const edges = this.#edges.map((text, index) => `${text} as e${index}`);
    const columns = [...edges, ...(this.#hasCursors ? [`${key} as k`] : [])];
    const parts = this.#rows.buildFromClauses("page", alias);
    const limit = this.#readsOneMore ? this.#page.size + 1 : this.#page.size;
    const ends = `order by ${order.join()} limit ${limit}`;
    if (parts.length === 1) return `select ${columns.join()} ${parts[0]} ${ends}`;
    const isDescending = (part: string) => part.endsWith(" desc");
    const places = order.map(
      (part, index) => `${isDescending(part) ? part.slice(0, -5) : part} as o${index}`,
    );
    const all = [...columns, ...places].join();
    const union = parts.map((part) => `(select ${all} ${part} ${ends})`).join(" union all ");
    const outer = order.map((part, index) => `o${index}${isDescending(part) ? " desc" : ""}`);
    return `select * from (${union}) ${this.#compilation.createAlias()} order by ${outer.join()} limit ${limit}`;
  }

  #buildResult(type: GraphQLObjectType, alias: string): Piece[] {
    return this.#compilation.buildObject(type, this.#selected, (field, { kind }, part) => {
      const below = requireObjectType(field);
      if (kind === "edges") return this.#edgesText(below, part, alias);
      if (kind === "aggregates") return [sqlPiece(this.#aggregates.buildAll(below, part))];
      if (kind === "groupedAggregates") {
        const groups = this.#compilation.getArgument(part.node, "groups");
        return [sqlPiece(this.#aggregates.buildGroups(below, part, groups))];
      }
      if (kind === "totalCount") return [this.#count(below, part)];
      if (kind !== "pageInfo") throw new UnsupportedOperation(kind);
      return this.#compilation.buildObject(below, part, (_field, question) => this.#pageInfo(question.kind));
    });
  }

  get #aggregates(): AggregateText {
    return (this.#aggregateText ??= new AggregateText(this.#compilation));
  }

  #edgesText(type: GraphQLObjectType, selected: SelectedField, alias: string): Piece[] {
    const { size, isBackward } = this.#page;
    if (size === 0) return [jsonPiece("[]")];
    const column = `${this.#pageAlias}.e${this.#edges.push(this.#edge(type, selected, alias)) - 1}`;
    const read = `(array_agg(${column}))[1:${size}]`;
    const page = isBackward ? `array_reverse(${read})` : read;
    return [jsonPiece("["), sqlPiece(`coalesce(array_to_string(${page},','),'')`), jsonPiece("]")];
  }

  #edge(type: GraphQLObjectType, selected: SelectedField, alias: string): string {
    return concatenate(
      this.#compilation.buildObject(type, selected, (field, { kind }, part) => {
        if (kind === "cursor") return [sqlPiece(this.#rows.buildCursor(this.#rows.buildKey(alias)))];
        if (kind !== "entry") throw new UnsupportedOperation(kind);
        return [sqlPiece(this.#compilation.buildRow(requireObjectType(field), part, alias))];
      }),
    );
  }

  #pageInfo(question: FieldSource["kind"]): Piece[] {
    const { size, isBackward, after, before } = this.#page;
    const [isNext, isPrevious] = [question === "hasNextPage", question === "hasPreviousPage"];
    if (question === "startCursor" || question === "endCursor") return this.#cursor(question);
    if (!isNext && !isPrevious) throw new UnsupportedOperation(question);
    // Whether rows can be missing on this side because of the page's size
    const isOpen = isNext !== isBackward;
    if (isOpen && size === 0) return [buildBoolean(this.#buildExists(isNext ? "afterStart" : "beforeEnd"))];
    const beyond = isNext
      ? before && this.#buildExists("following")
      : after && this.#buildExists("preceding");
    if (!isOpen) return [beyond === null ? jsonPiece("false") : buildBoolean(beyond)];
    this.#readsOneMore = true;
    return [buildBoolean(`count(*)>${size}${beyond === null ? "" : ` or ${beyond}`}`)];
  }

  /** Returns SQL of the cursor of the first or last row. */
  #cursor(which: "startCursor" | "endCursor"): Piece[] {
    const { size, isBackward } = this.#page;
    if (size === 0) return [jsonPiece("null")];
    this.#hasCursors = true;
    const isFirstRead = (which === "startCursor") !== isBackward;
    const position = isFirstRead ? "1" : `least(count(*),${size})`;
    const cursor = this.#rows.buildCursor(`(array_agg(${this.#pageAlias}.k))[${position}]`);
    return [sqlPiece(`coalesce(${cursor},'null')`)];
  }

  /** Returns SQL of the count. It counts one row more than the maximum, which shows whether there are more. */
  #count(type: GraphQLObjectType, selected: SelectedField): Piece {
    const rows = this.#compilation.createAlias();
    const pieces = this.#compilation.buildObject(type, selected, (_field, { kind }) => {
      if (kind === "count") return [sqlPiece(`least(${rows}.n,${maxCount})::text`)];
      if (kind !== "precision") throw new UnsupportedOperation(kind);
      return [sqlPiece(`case when ${rows}.n>${maxCount} then '"AT_LEAST"' else '"EXACT"' end`)];
    });
    const [all] = this.#rows.buildFromClauses("all", this.#compilation.createAlias());
    const counted = `(select count(*) as n from (select ${all!} limit ${maxCount + 1}) ${rows}) ${rows}`;
    return sqlPiece(`(select ${concatenate(pieces)} from ${counted})`);
  }

  #buildExists(range: Range): string {
    const rows = this.#rows.buildFromClauses(range, this.#compilation.createAlias());
    return rows.map((part) => `exists(select ${part})`).join(" or ");
  }
}

const buildBoolean = (condition: string): Piece =>
  sqlPiece(`case when ${condition} then 'true' else 'false' end`);
