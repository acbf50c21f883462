import type { GraphQLField, GraphQLObjectType } from "postgraphile/graphql";
import { getNamedType, isObjectType } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { AggregateText } from "./aggregates.ts";
import { conditionOf } from "./filter-conditions.ts";
import type { StageSql } from "./followed.ts";
import { given, notYetGiven, openTransactions } from "./followed.ts";
import type { PageArguments } from "./arguments.ts";
import type { Compilation } from "./compilation.ts";
import { fromOf, joinOf, typename, understood } from "./compilation.ts";
import { cursorExpression } from "./cursors.ts";
import type { Piece } from "./json-text.ts";
import { concatenated, expression, identifier, json, objectPieces, textOfSql } from "./json-text.ts";
import { isUuidKey, keyTextOf, orderOf, parameterType, rowOf } from "./keys.ts";
import type { FieldSource } from "./field-source.ts";
import type { SelectedField } from "./operation.ts";
import { NotCovered } from "./operation.ts";
import { PageText } from "./page-text.ts";
import { foundBy } from "./search.ts";

type Field = GraphQLField<unknown, unknown>;
type List = FieldSource & { kind: "list" };
/** Makes the JSON text of an object from a row: `objectExpression` (objects.ts), which in turn makes lists. */
export type ExpressObject = (
  compilation: Compilation,
  type: GraphQLObjectType,
  selected: Pick<SelectedField, "below">,
  alias: string,
) => string;
/** The rows on one side of the cursor: before it, or after it. */
type Side = typeof given | typeof notYetGiven;

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
  readonly #list: List;
  readonly #selected: SelectedField;
  readonly #parent: string | null;
  readonly #expressObject: ExpressObject;
  readonly #page: PageArguments;
  readonly #found: string;
  readonly #text: PageText;

  constructor(
    compilation: Compilation,
    list: List,
    selected: SelectedField,
    parent: string | null,
    expressObject: ExpressObject,
  ) {
    this.#compilation = compilation;
    this.#list = list;
    this.#selected = selected;
    this.#parent = parent;
    this.#expressObject = expressObject;
    this.#page = compilation.given.get(selected.node)!.page!;
    this.#found = compilation.alias();
    this.#text = new PageText(this.#page.first, this.#found);
  }

  expression(type: GraphQLObjectType): string {
    const alias = this.#compilation.alias();
    const text = concatenated(this.#answer(type, alias));
    if (!this.#text.needsRows) return text;
    const order = orderOf(this.#list.key, sql.identifier(alias)).map(textOfSql).join();
    const rows =
      `select ${this.#text.columns(this.#keyOf(alias))} ${this.#rows(alias, this.#page.after ? notYetGiven : null)} ` +
      `order by ${order} limit ${this.#text.limit}`;
    return `(select ${text} from (${rows}) ${this.#found})`;
  }

  #answer(type: GraphQLObjectType, alias: string): Piece[] {
    return this.#object(type, this.#selected, (field, kind, part) => {
      if (kind === "edges") return this.#text.edges(() => this.#edge(objectType(field), part, alias));
      if (kind === "aggregates" || kind === "groupedAggregates")
        return [this.#aggregates(objectType(field), part)];
      if (kind !== "pageInfo") throw new NotCovered(kind);
      return this.#object(objectType(field), part, (_field, question) => this.#pageInfo(question));
    });
  }

  #aggregates(type: GraphQLObjectType, selected: SelectedField): Piece {
    const { groups } = this.#compilation.given.get(selected.node) ?? {};
    const text = new AggregateText(this.#compilation);
    const rowsOf = (alias: string) => this.#rows(alias, null);
    return expression(
      groups ? text.ofGroups(type, selected, groups, rowsOf) : text.ofAll(type, selected, rowsOf),
    );
  }

  #edge(type: GraphQLObjectType, selected: SelectedField, alias: string): string {
    return concatenated(
      this.#object(type, selected, (field, kind, part) => {
        if (kind === "cursor") return [expression(this.#cursor(this.#keyOf(alias)))];
        if (kind !== "entry") throw new NotCovered(kind);
        return [expression(this.#expressObject(this.#compilation, objectType(field), part, alias))];
      }),
    );
  }

  #pageInfo(question: FieldSource["kind"]): Piece[] {
    const { first, after } = this.#page;
    switch (question) {
      case "startCursor":
      case "endCursor":
        return this.#text.cursor(question, (key) => this.#cursor(key));
      case "hasNextPage":
        return first > 0 ? this.#text.hasMore() : [this.#exists(after ? notYetGiven : null)];
      case "hasPreviousPage":
        return [after ? this.#exists(given) : json("false")];
      default:
        throw new NotCovered(question);
    }
  }

  #exists(side: Side | null): Piece {
    const rows = this.#rows(this.#compilation.alias(), side);
    return expression(`case when exists(select ${rows}) then 'true' else 'false' end`);
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

  /** The filtered rows of the list on one side of the cursor: SQL from `from` to the end of the conditions. */
  #rows(alias: string, side: Side | null): string {
    const { resource, hops, call } = this.#list;
    const parent = call?.takesRow ? this.#parent : null;
    const all = call ? this.#compilation.call(this.#selected.node, call, parent) : fromOf(resource);
    let from = `from ${all} ${alias}`;
    const conditions: string[] = [];
    let [here, last] = [alias, hops.length - 1];
    for (; last > 0; last--) {
      const link = this.#compilation.alias();
      from += ` join ${fromOf(hops[last - 1]!.to)} ${link} on ${joinOf(hops[last]!, link, here)}`;
      here = link;
    }
    if (hops[0]) conditions.push(joinOf(hops[0], this.#parent!, here));
    if (side) conditions.push(`(${this.#beside(alias, side)})`);
    const found = this.#foundBySearch(alias);
    if (found) conditions.push(`(${found})`);
    const filter = this.#filter(alias);
    if (filter) conditions.push(`(${filter})`);
    return conditions.length > 0 ? `${from} where ${conditions.join(" and ")}` : from;
  }

  /** The condition that rows are on one side of the cursor. */
  #beside(alias: string, side: Side): string {
    const places: string[] = [];
    const note = (index: number, type: string) => sql.value(places.push(this.#value(index, type)));
    const stages = this.#page.after!.map(({ key, open }) => ({
      key: rowOf(key.map((index, part) => note(index, this.#typeOf(part)))),
      open: open === null ? null : note(open, "int8multirange"),
    }));
    const rows = { alias: sql.identifier(alias), key: this.#list.key, followed: this.#list.followed };
    return placed(side(rows, stages as [StageSql, ...StageSql[]]), places).text;
  }

  /** The cursor of the row with a key. */
  #cursor(key: string): string {
    const { list, followed } = this.#list;
    if (!followed) return cursorExpression(list, key);
    const before = (this.#page.after ?? []).flatMap(({ key: [farther], text }) =>
      text === null ? [] : [{ key: this.#value(farther!, "uuid"), text: this.#value(text, "text") }],
    );
    return cursorExpression(list, key, placed(openTransactions, []).text, before);
  }

  #value(index: number, type: string): string {
    return this.#compilation.parameter(this.#selected.node, index, type);
  }

  #foundBySearch(alias: string): string | null {
    const { search } = this.#page;
    if (search === null) return null;
    const found = foundBy(this.#list.search!, sql.identifier(alias), sql.value(1));
    return placed(found, [this.#value(search, "text[]")]).text;
  }

  #filter(alias: string): string | null {
    const { filter, filterIndex } = this.#page;
    const { node } = this.#selected;
    let index = filterIndex;
    const places: string[] = [];
    const condition = conditionOf(filter, sql.identifier(alias), ({ type }) => {
      places.push(this.#compilation.parameter(node, index++, sql.compile(type).text));
      return sql.value(places.length);
    });
    if (!condition) return null;
    const { text, count } = placed(condition, places);
    if (count !== places.length) throw new NotCovered("a filter with dollar signs");
    return text;
  }

  /** What stands in cursors for a row: its key, if that is its own text, or the text of it. */
  #keyOf(alias: string): string {
    const { key } = this.#list;
    return isUuidKey(key)
      ? `${alias}.${identifier(key[0].name)}`
      : textOfSql(keyTextOf(key, sql.identifier(alias)));
  }

  #typeOf(part: number): string {
    return textOfSql(parameterType(this.#list.key[part]!));
  }
}

/**
 * Text of a fragment whose values are the numbers of places, from 1, with the places inserted.
 *
 * @returns it, and how often one was inserted
 */
function placed(fragment: SQL, places: readonly string[]): { text: string; count: number } {
  const { text, values } = sql.compile(fragment);
  let count = 0;
  const filled = text.replace(/\$(\d+)/g, (_match, number: string) => {
    count++;
    return places[(values[Number(number) - 1] as number) - 1]!;
  });
  return { text: filled, count };
}

function objectType(field: Field): GraphQLObjectType {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) throw new NotCovered(`type of ${field.name}`);
  return type;
}
