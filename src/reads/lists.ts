import type { GraphQLField, GraphQLObjectType } from "postgraphile/graphql";
import { getNamedType, isObjectType } from "postgraphile/graphql";
import { AggregateText } from "./aggregates.ts";
import type { Compilation } from "./compilation.ts";
import { typename, understood } from "./compilation.ts";
import type { Piece } from "./json-text.ts";
import { concatenated, expression, json, objectPieces } from "./json-text.ts";
import type { FieldSource } from "./field-source.ts";
import type { List, Range } from "./list-rows.ts";
import { ListRows } from "./list-rows.ts";
import type { SelectedField } from "./operation.ts";
import { NotCovered } from "./operation.ts";
import { PageText } from "./page-text.ts";
import { countedRows, countText } from "./total-count.ts";

type Field = GraphQLField<unknown, unknown>;
/** Makes the JSON text of an object from a row: `objectExpression` (objects.ts), which in turn makes lists. */
export type ExpressObject = (
  compilation: Compilation,
  type: GraphQLObjectType,
  selected: Pick<SelectedField, "below">,
  alias: string,
) => string;

/**
 * The JSON text of a page of rows.
 *
 * A subquery finds the rows, one more than requested if the client wants to know whether there are more, and makes a
 * text of each; the outer query concatenates these. Whether rows exist before the page, or after an empty one, takes
 * one look at the index.
 *
 * @param parent the row that the list belongs to; null for lists of all rows
 * @param expressObject makes the text of each row
 */
export function listExpression(
  compilation: Compilation,
  field: Field,
  list: List,
  selected: SelectedField,
  parent: string | null,
  expressObject: ExpressObject,
): string {
  return new ListCompilation(compilation, list, selected, parent, expressObject).expression(
    objectType(field),
  );
}

class ListCompilation {
  readonly #compilation: Compilation;
  readonly #selected: SelectedField;
  readonly #expressObject: ExpressObject;
  readonly #rows: ListRows;
  readonly #found: string;
  readonly #text: PageText;
  /** Once an aggregate was asked for. */
  #aggregated: AggregateText | null = null;

  constructor(
    compilation: Compilation,
    list: List,
    selected: SelectedField,
    parent: string | null,
    expressObject: ExpressObject,
  ) {
    this.#compilation = compilation;
    this.#selected = selected;
    this.#expressObject = expressObject;
    this.#rows = new ListRows(compilation, list, selected, parent);
    this.#found = compilation.alias();
    this.#text = new PageText(this.#page, this.#found);
  }

  get #page() {
    return this.#compilation.given.get(this.#selected.node)!.page!;
  }

  expression(type: GraphQLObjectType): string {
    const alias = this.#compilation.alias();
    const text = concatenated(this.#answer(type, alias));
    const { needsRows } = this.#text;
    if (!needsRows && !this.#aggregated) return `${text}`;
    const aggregated = this.#aggregated
      ? `${this.#aggregated.rows((rows) => this.#rows.in("all", rows)[0]!)} `
      : "";
    const from = needsRows ? ` from (${this.#pageRows(alias)}) ${this.#found}` : "";
    return `(${aggregated}select ${text}${from})`;
  }

  /** The rows of the page, in the order in which they are read. Where two parts make it up, each is as long at most. */
  #pageRows(alias: string): string {
    const order = this.#rows.order(alias);
    const columns = this.#text.columns(this.#rows.keyOf(alias));
    const parts = this.#rows.in("page", alias);
    const ends = `order by ${order.join()} limit ${this.#text.limit}`;
    if (parts.length === 1) return `select ${columns} ${parts[0]} ${ends}`;
    const isDescending = (part: string) => part.endsWith(" desc");
    const places = order.map(
      (part, index) => `${isDescending(part) ? part.slice(0, -5) : part} as o${index}`,
    );
    const all = [...(columns === "" ? [] : [columns]), ...places].join();
    const together = parts.map((part) => `(select ${all} ${part} ${ends})`).join(" union all ");
    const outer = order.map((part, index) => `o${index}${isDescending(part) ? " desc" : ""}`);
    return `select * from (${together}) ${this.#compilation.alias()} order by ${outer.join()} limit ${this.#text.limit}`;
  }

  #answer(type: GraphQLObjectType, alias: string): Piece[] {
    return this.#object(type, this.#selected, (field, kind, part) => {
      if (kind === "edges") return this.#text.edges(() => this.#edge(objectType(field), part, alias));
      if (kind === "aggregates" || kind === "groupedAggregates")
        return [this.#aggregates(objectType(field), part)];
      if (kind === "totalCount") return [this.#count(objectType(field), part)];
      if (kind !== "pageInfo") throw new NotCovered(kind);
      return this.#object(objectType(field), part, (_field, question) => this.#pageInfo(question));
    });
  }

  #aggregates(type: GraphQLObjectType, selected: SelectedField): Piece {
    const { groups } = this.#compilation.given.get(selected.node) ?? {};
    const text = (this.#aggregated ??= new AggregateText(this.#compilation));
    return expression(groups ? text.ofGroups(type, selected, groups) : text.ofAll(type, selected));
  }

  #edge(type: GraphQLObjectType, selected: SelectedField, alias: string): string {
    return concatenated(
      this.#object(type, selected, (field, kind, part) => {
        if (kind === "cursor") return [expression(this.#rows.cursor(this.#rows.keyOf(alias)))];
        if (kind !== "entry") throw new NotCovered(kind);
        return [expression(this.#expressObject(this.#compilation, objectType(field), part, alias))];
      }),
    );
  }

  #pageInfo(question: FieldSource["kind"]): Piece[] {
    const { size, isBackward, after, before } = this.#page;
    const [isNext, isPrevious] = [question === "hasNextPage", question === "hasPreviousPage"];
    if (question === "startCursor" || question === "endCursor")
      return this.#text.cursor(question, (key) => this.#rows.cursor(key));
    if (!isNext && !isPrevious) throw new NotCovered(question);
    // Whether the page can have left out something on this side
    const isOpen = isNext !== isBackward;
    if (isOpen && size === 0) return [this.#exists(isNext ? "afterStart" : "beforeEnd")];
    const beyond = isNext ? before && this.#anyIn("following") : after && this.#anyIn("preceding");
    if (isOpen) return this.#text.hasMore(beyond);
    return [beyond === null ? json("false") : whether(beyond)];
  }

  #count(type: GraphQLObjectType, selected: SelectedField): Piece {
    const rows = this.#compilation.alias();
    const pieces = this.#object(type, selected, (_field, kind) => [expression(countText(kind, rows))]);
    const [all] = this.#rows.in("all", this.#compilation.alias());
    return expression(`(select ${concatenated(pieces)} from ${countedRows(all!, rows)})`);
  }

  #exists(range: Range): Piece {
    return whether(this.#anyIn(range));
  }

  #anyIn(range: Range): string {
    const rows = this.#rows.in(range, this.#compilation.alias());
    return rows.map((part) => `exists(select ${part})`).join(" or ");
  }

  /** The pieces of an object of this page; a function makes each field except __typename. */
  #object(
    type: GraphQLObjectType,
    selected: SelectedField,
    piecesOf: (field: Field, kind: FieldSource["kind"], part: SelectedField) => Piece[],
  ): Piece[] {
    const fields = this.#compilation.select(type, selected).map(([key, part]): [string, Piece[]] => {
      if (part.name === "__typename") return [key, typename(type)];
      const { field, source } = understood(type, part.name);
      if (part.node.arguments?.length && source.kind !== "groupedAggregates")
        throw new NotCovered(`arguments of ${part.name}`);
      return [key, piecesOf(field, source.kind, part)];
    });
    return objectPieces(fields);
  }
}

const whether = (condition: string): Piece =>
  expression(`case when ${condition} then 'true' else 'false' end`);

function objectType(field: Field): GraphQLObjectType {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) throw new NotCovered(`type of ${field.name}`);
  return type;
}
